import { MiniMap } from "@xyflow/react";
import classes from "./Overview.module.css";

const SIZE = { width: 183, height: 112 };

/** The whole pipeline in small, docked below the palette so that it covers nothing. */
export function Overview() {
  return (
    <div className={`react-flow ${classes.overview}`}>
      <MiniMap
        pannable
        zoomable
        ariaLabel="Overview of the pipeline"
        style={SIZE}
        className={classes.map ?? ""}
      />
    </div>
  );
}
