type UndoStep = () => Promise<void> | void;

/** Undoes what a start has done, the last step first. */
export class UndoSteps {
  private readonly steps: UndoStep[] = [];

  add(step: UndoStep): void {
    this.steps.push(step);
  }

  /** Runs all steps, even if some fail. Then throws the error of the first that failed, unless `onError` takes them. */
  async run(onError?: (error: unknown) => void): Promise<void> {
    const errors: unknown[] = [];
    for (const step of this.steps.splice(0).reverse()) {
      try {
        await step();
      } catch (error) {
        errors.push(error);
        onError?.(error);
      }
    }
    if (!onError && errors.length > 0) throw errors[0];
  }
}
