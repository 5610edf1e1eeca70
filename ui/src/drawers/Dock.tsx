import { ActionIcon, Tabs } from "@mantine/core";
import { IconChevronDown } from "@tabler/icons-react";
import { lazy, Suspense } from "react";
import { useJobFailure } from "@/canvas/nodeMarks";
import { Loading } from "@/shared/Loading";
import { useDocument } from "@/stores/documentStore";
import { type Dock as DockName, show, useUi } from "@/stores/uiStore";
import classes from "./Dock.module.css";
import { EventTable } from "./EventTable";
import { ProblemList } from "./ProblemList";

const JobCharts = lazy(() => import("@/charts/JobCharts"));

/** The docked panel at the bottom: a row of tabs, with a list above it when one is open. */
export function Dock() {
  const dock = useUi((state) => state.dock);
  const failure = useJobFailure();
  const count = useDocument((state) => state.told.problems.length) + (failure ? 1 : 0);
  const pipeline = useDocument((state) => state.pipeline);
  const toggle = (name: DockName) => show({ dock: dock === name ? null : name });
  return (
    <section
      className={classes.dock}
      data-panel
      data-open={dock !== null || undefined}
      aria-label="Problems, events and charts"
    >
      <Tabs
        value={dock}
        classNames={{ list: classes.tabs ?? "", tab: classes.tab ?? "" }}
        keepMounted={false}
        className={classes.all ?? ""}
      >
        <Tabs.List>
          <Tabs.Tab value="problems" onClick={() => toggle("problems")}>
            Problems{" "}
            <b style={{ color: count > 0 ? "var(--hr-bad)" : "var(--hr-text-soft)", fontWeight: 600 }}>
              {count}
            </b>
          </Tabs.Tab>
          <Tabs.Tab value="events" onClick={() => toggle("events")}>
            Job events
          </Tabs.Tab>
          <Tabs.Tab value="charts" onClick={() => toggle("charts")}>
            Charts
          </Tabs.Tab>
          {dock !== null && (
            <ActionIcon
              variant="subtle"
              color="gray"
              size="sm"
              ml="auto"
              mr={8}
              my="auto"
              aria-label="Close the dock"
              onClick={() => show({ dock: null })}
            >
              <IconChevronDown size={14} aria-hidden />
            </ActionIcon>
          )}
        </Tabs.List>
        <Tabs.Panel value="problems" className={classes.panel ?? ""} tabIndex={0}>
          <ProblemList />
        </Tabs.Panel>
        <Tabs.Panel value="events" className={classes.panel ?? ""} tabIndex={0}>
          <EventTable node={null} />
        </Tabs.Panel>
        <Tabs.Panel value="charts" className={classes.panel ?? ""} tabIndex={0}>
          <Suspense fallback={<Loading what="the charts" />}>
            <JobCharts pipeline={pipeline} />
          </Suspense>
        </Tabs.Panel>
      </Tabs>
    </section>
  );
}
