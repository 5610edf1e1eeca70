import { Anchor, Button } from "@mantine/core";
import { Link } from "wouter";
import { paths } from "@/app/paths";
import { EmptyState } from "@/shared/EmptyState";
import { ErrorState } from "@/shared/ErrorState";
import { Loading } from "@/shared/Loading";
import classes from "./VersionsPage.module.css";
import { Comparison } from "./versions/Comparison";
import { useVersions } from "./versions/queries";
import { useSides } from "./versions/sides";
import { VersionList } from "./versions/VersionList";

/** Every version of a pipeline, and what lies between any two of them. */
export default function VersionsPage({ pipeline }: { pipeline: string }) {
  const { data: versions, error, refetch } = useVersions(pipeline);
  const [sides, setSides] = useSides(versions);
  return (
    <div className={classes.page}>
      <div className={classes.list}>
        <div className={classes.head}>
          <h1 className={classes.title}>
            <Anchor component={Link} href={paths.pipeline(pipeline)} inherit underline="always">
              {pipeline}
            </Anchor>
            {" / Versions"}
          </h1>
        </div>
        {!versions && !error && <Loading what="the versions" />}
        {!versions && error && (
          <ErrorState title="The versions could not be read" error={error} onRetry={() => void refetch()} />
        )}
        {versions && <VersionList pipeline={pipeline} versions={versions} sides={sides} onSides={setSides} />}
      </div>
      <div className={classes.comparison}>
        {versions?.length === 0 && (
          <EmptyState
            title="No versions yet"
            action={
              <Button component={Link} href={paths.pipeline(pipeline)} variant="default">
                To the canvas
              </Button>
            }
          >
            Every deploy makes one.
          </EmptyState>
        )}
        {sides && <Comparison pipeline={pipeline} sides={sides} />}
      </div>
    </div>
  );
}
