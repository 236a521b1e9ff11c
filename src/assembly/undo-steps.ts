export type UndoStep = () => Promise<void> | void;

/** Undoes what a start has done, the last step first. */
export class UndoSteps {
  private readonly steps: UndoStep[] = [];

  add(step: UndoStep): void {
    this.steps.push(step);
  }

  /** Ends with the first step that fails, unless `onError` takes its error. */
  async run(onError?: (error: unknown) => void): Promise<void> {
    for (const step of this.steps.splice(0).reverse()) {
      try {
        await step();
      } catch (error) {
        if (!onError) throw error;
        onError(error);
      }
    }
  }
}
