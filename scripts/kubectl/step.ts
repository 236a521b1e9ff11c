/** A call of kubectl and its expected outcome. Steps build on each other, in order. */
export interface Step {
  readonly name: string;
  readonly args: readonly string[];
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Keeps the output under this name for the arguments and input of later steps: `<name>`. */
  readonly keep?: string;
  readonly code?: number;
  readonly stdout?: RegExp;
  readonly stderr?: RegExp;
  /** Runs the call in the background, and ends it when its output matches. */
  readonly until?: RegExp;
  /** Missing feature of the server, with kubectl of these minor versions. The step is expected to fail. */
  readonly missing?: { readonly fromMinor: number; readonly toMinor?: number; readonly what: string };
}
