import { useReactFlow } from "@xyflow/react";
import { useMemo } from "react";
import { AddPicker } from "@/canvas/AddPicker";
import { Canvas } from "@/canvas/Canvas";
import { ConnectPicker } from "@/canvas/ConnectPicker";
import { Overview } from "@/canvas/Overview";
import { Palette } from "@/canvas/Palette";
import { useCatalogue } from "@/canvas/useCatalogue";
import { NotationTab } from "@/code/NotationTab";
import { Dock } from "@/drawers/Dock";
import { SelectionDrawer } from "@/drawers/SelectionDrawer";
import { show, useUi } from "@/stores/uiStore";
import { CanvasTools } from "./CanvasTools";
import { CommandPalette, openCommandPalette } from "./CommandPalette";
import { ConflictBanner } from "./ConflictBanner";
import { editorCommands } from "./commands";
import { DeployDialog } from "./DeployDialog";
import { saveNow } from "./draftSync";
import classes from "./Editor.module.css";
import { FailureBanner } from "./FailureBanner";
import { ImportDialog } from "./ImportDialog";
import { KeysDialog } from "./KeysDialog";
import { Toolbar } from "./Toolbar";
import { useEditorKeys } from "./useEditorKeys";

function openDeploy(): void {
  void saveNow();
  show({ dialog: "deploy" });
}

/** The open pipeline: toolbar, palette, canvas or notation, drawer, dock. Panels are docked, nothing floats. */
export function Editor() {
  const { catalogue } = useCatalogue();
  const { fitView } = useReactFlow();
  const tab = useUi((state) => state.tab);
  const isPaletteOpen = useUi((state) => state.isPaletteOpen);
  const commands = useMemo(
    () =>
      editorCommands({
        catalogue,
        fitView: () => void fitView({ padding: 0.15, maxZoom: 1, duration: 200 }),
        openPalette: openCommandPalette,
        deploy: openDeploy,
      }),
    [catalogue, fitView],
  );
  useEditorKeys(commands);
  return (
    <div className={classes.editor}>
      <Toolbar onDeploy={openDeploy} commands={tab === "canvas" ? <CanvasTools /> : null} />
      <ConflictBanner />
      <FailureBanner />
      <div className={classes.work}>
        {tab === "canvas" && isPaletteOpen && (
          <div className={classes.palette}>
            <Palette />
            <Overview />
          </div>
        )}
        <div className={classes.center}>
          <div className={classes.view}>
            {tab === "canvas" ? <Canvas /> : <NotationTab key={tab} language={tab} />}
          </div>
          <Dock />
        </div>
        <SelectionDrawer />
      </div>
      <AddPicker />
      <ConnectPicker />
      <DeployDialog />
      <ImportDialog />
      <KeysDialog commands={commands} />
      <CommandPalette commands={commands} />
    </div>
  );
}
