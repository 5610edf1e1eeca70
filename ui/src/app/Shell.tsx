import { Group, NavLink, Text, UnstyledButton } from "@mantine/core";
import { IconDatabase, IconRipple, IconTopologyStar3 } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { Link, useLocation } from "wouter";
import { ErrorBoundary } from "@/shared/ErrorBoundary";
import { ConnectionStatus } from "./ConnectionStatus";
import { LogoutButton } from "./LogoutButton";
import { NoticeBanner } from "./NoticeBanner";
import { paths } from "./paths";
import classes from "./Shell.module.css";
import { ThemeSwitch } from "./ThemeSwitch";

const PAGES = [
  { path: paths.home, title: "Pipelines", icon: IconTopologyStar3, also: "/pipelines" },
  { path: paths.topics, title: "Topics", icon: IconDatabase, also: "/topics" },
];

/** Header with navigation; the page fills the rest of the window and scrolls by itself. */
export function Shell({ children }: { children: ReactNode }) {
  const [location] = useLocation();
  return (
    <div className={classes.shell}>
      <UnstyledButton className={classes.skip} onClick={() => document.getElementById("main")?.focus()}>
        Skip to content
      </UnstyledButton>
      <header className={classes.header}>
        <UnstyledButton component={Link} href={paths.home} aria-label="Headrace, start page">
          <Group gap={6} wrap="nowrap">
            <IconRipple size={20} aria-hidden className={classes.mark} />
            <Text fw={650} size="sm">
              Headrace
            </Text>
          </Group>
        </UnstyledButton>
        <nav aria-label="Pages" className={classes.pages}>
          {PAGES.map(({ path, title, icon: Icon, also }) => (
            <NavLink
              key={path}
              component={Link}
              href={path}
              label={title}
              active={location === path || location.startsWith(also)}
              aria-current={location === path ? "page" : undefined}
              leftSection={<Icon size={16} aria-hidden />}
              className={classes.page}
            />
          ))}
        </nav>
        <div id="header-slot" className={classes.slot} />
        <ConnectionStatus />
        <ThemeSwitch />
        <LogoutButton />
      </header>
      <NoticeBanner />
      <main id="main" className={classes.main} tabIndex={-1}>
        <ErrorBoundary key={location}>{children}</ErrorBoundary>
      </main>
    </div>
  );
}
