import { Modal } from "@mantine/core";
import { ApiProblem } from "@/api/problem";
import { useDocument } from "@/stores/documentStore";
import { show, useUi } from "@/stores/uiStore";
import { DeployForm } from "./DeployForm";
import { DeployOutcome } from "./DeployOutcome";
import { Refusal } from "./Refusal";
import { useDeployment } from "./useDeployment";

/** The new version is checked; then the running one is stopped cleanly, the new one starts, and the dialog says whether
 * it does its work. */
export function DeployDialog() {
  const isOpen = useUi((state) => state.dialog === "deploy");
  const pipeline = useDocument((state) => state.pipeline);
  const { begin, tried, deployment, isPending, error, forget } = useDeployment(pipeline);
  const close = () => {
    show({ dialog: null });
    if (!isPending) forget();
  };
  return (
    <Modal opened={isOpen} onClose={close} title={`Deploy ${pipeline}`} size="lg">
      {error && <Refusal title="Not deployed" error={error} />}
      {deployment ? (
        <DeployOutcome pipeline={pipeline} deployment={deployment} onClose={close} />
      ) : (
        <DeployForm
          tried={tried}
          refusal={error instanceof ApiProblem ? error.code : null}
          isBusy={isPending}
          onDeploy={begin}
          onCancel={close}
        />
      )}
    </Modal>
  );
}
