/** Joins problems like kube-apiserver: a single one is not put in brackets. */
export const listed = (problems: readonly string[]): string =>
  problems.length === 1 ? problems[0]! : `[${problems.join(', ')}]`;
