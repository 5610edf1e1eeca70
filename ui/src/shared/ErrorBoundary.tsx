import { Component, type ReactNode } from "react";
import { ErrorState } from "./ErrorState";

interface State {
  error: Error | null;
}

/** A defect in one part of the page leaves the rest standing. */
export class ErrorBoundary extends Component<{ children: ReactNode }, State> {
  override state: State = { error: null };

  static getDerivedStateFromError(error: Error): State {
    return { error };
  }

  override render(): ReactNode {
    if (this.state.error === null) return this.props.children;
    return (
      <ErrorState
        title="This part of the page failed"
        error={this.state.error}
        onRetry={() => this.setState({ error: null })}
      />
    );
  }
}
