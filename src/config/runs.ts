/**
 * When an admission plug-in or a reconciler runs: `by default` unless a flag disables it, `if enabled` by a flag, or
 * `always`: flags do not accept its name.
 */
export type Runs = 'by default' | 'if enabled' | 'always';

/** When something that flags can name runs. */
export type SwitchableRuns = Exclude<Runs, 'always'>;
