/** Refuses the value of a flag, or the file that it names, with all its problems. */
export class FlagError extends Error {
  override readonly name = 'FlagError';
  constructor(
    flag: string,
    readonly problems: readonly string[],
    file?: string,
  ) {
    super(`--${flag}: ${file === undefined ? '' : `${file}: `}${problems.join('; ')}`);
  }
}
