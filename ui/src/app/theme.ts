import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from "@mantine/core";

const water: MantineColorsTuple = [
  "#e6f5fb",
  "#cfe7f1",
  "#9fcee2",
  "#6bb4d3",
  "#429fc6",
  "#2892be",
  "#0f7fad",
  "#0b6e99",
  "#005f87",
  "#004d70",
];

/** Mantine's greys of the dark theme, in the tone of our surfaces. */
const dark: MantineColorsTuple = [
  "#dbe4e9",
  "#b3c1ca",
  "#93a3ad",
  "#6b7c87",
  "#3b4850",
  "#2c373e",
  "#222c32",
  "#1a2227",
  "#12181c",
  "#0e1316",
];

export const theme = createTheme({
  primaryColor: "water",
  primaryShade: { light: 7, dark: 7 },
  colors: { water, dark },
  fontFamily: "Inter, system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif",
  fontFamilyMonospace:
    "ui-monospace, 'JetBrains Mono', 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace",
  defaultRadius: "sm",
  cursorType: "pointer",
  focusRing: "auto",
  respectReducedMotion: true,
  spacing: { xs: "4px", sm: "8px", md: "12px", lg: "16px", xl: "24px" },
  components: {
    Button: { defaultProps: { size: "xs" } },
    TextInput: { defaultProps: { size: "xs" } },
    NumberInput: { defaultProps: { size: "xs" } },
    Select: { defaultProps: { size: "xs", allowDeselect: false } },
    Textarea: { defaultProps: { size: "xs" } },
    Tooltip: { defaultProps: { openDelay: 400, withinPortal: true, multiline: true, maw: 320, fz: "xs" } },
    Tabs: { styles: { tab: { fontSize: "13px", paddingBlock: "8px" } } },
    ActionIcon: { defaultProps: { size: "md" } },
    Modal: {
      defaultProps: {
        closeButtonProps: { "aria-label": "Close" },
        // The header of a dialog is no landmark of the page.
        attributes: { header: { role: "presentation" } },
      },
    },
    Badge: { defaultProps: { tt: "none", fw: 500 } },
  },
});

/** Colours of the surfaces and states, so that one name serves light and dark. */
export const themeVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    "--hr-surface": "#f6f8f9",
    "--hr-raised": "#ffffff",
    "--hr-sunken": "#eef2f4",
    "--hr-line": "#d9e0e4",
    "--hr-line-strong": "#aab7bf",
    "--hr-text": "#17222a",
    "--hr-text-soft": "#52626d",
    "--hr-accent": "#0b6e99",
    "--hr-accent-soft": "#e1f0f7",
    "--hr-good": "#1b7f4b",
    "--hr-warn": "#9a5b00",
    "--hr-bad": "#c0282d",
    "--hr-bad-soft": "#fdecec",
    "--hr-source": "#0b6e99",
    "--hr-relational": "#6a4fb3",
    "--hr-serial": "#9a5b00",
    "--hr-sink": "#1b7f4b",
    "--mantine-color-dimmed": "#52626d",
    "--mantine-color-placeholder": "#63737e",
    "--mantine-color-red-light": "var(--hr-bad-soft)",
    "--mantine-color-red-light-color": "var(--hr-bad)",
  },
  dark: {
    "--hr-surface": "#12181c",
    "--hr-raised": "#1a2227",
    "--hr-sunken": "#0e1316",
    "--hr-line": "#2c373e",
    "--hr-line-strong": "#56656f",
    "--hr-text": "#e3eaee",
    "--hr-text-soft": "#a0b0ba",
    "--hr-accent": "#5cb8dc",
    "--hr-accent-soft": "#17323f",
    "--hr-good": "#5cc48c",
    "--hr-warn": "#e0a64a",
    "--hr-bad": "#ff8086",
    "--hr-bad-soft": "#3a1d20",
    "--hr-source": "#5cb8dc",
    "--hr-relational": "#b3a0f0",
    "--hr-serial": "#e0a64a",
    "--hr-sink": "#5cc48c",
    "--mantine-color-body": "#12181c",
    "--mantine-color-dimmed": "#a0b0ba",
    "--mantine-color-placeholder": "#93a3ad",
    // Alerts: what is the library's own is too loud for a whole band on a dark page.
    "--mantine-color-red-light": "var(--hr-bad-soft)",
    "--mantine-color-red-light-color": "var(--hr-bad)",
    "--mantine-color-orange-light": "#34280f",
    "--mantine-color-orange-light-color": "var(--hr-warn)",
    "--mantine-color-teal-light": "#15301f",
    "--mantine-color-teal-light-color": "var(--hr-good)",
  },
});
