/** Several problems in one text, as clients know them: one stands for itself. */
export const listed = (problems: readonly string[]): string =>
  problems.length === 1 ? problems[0]! : `[${problems.join(', ')}]`;
