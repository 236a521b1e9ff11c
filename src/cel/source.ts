import { byteLength, codePointLength, codePointSlice } from './values/texts.js';

/** The errors that are listed; of the others, only the number is. */
const errorsMax = 100;
/** Longer lines are not repeated below an error. */
const snippetBytesMax = 16384;

/** An error of an expression. `column` begins at 0; line and column are -1 where there is no place. */
export interface CelIssue {
  readonly message: string;
  readonly line: number;
  readonly column: number;
}

/** The text of an error; a function for one that takes time to build, since not all errors are listed. */
export type Message = string | (() => string);

/** The text of an expression and the errors that were found in it. */
export class Source {
  private readonly lineStarts: number[] = [0];
  private readonly issues: CelIssue[] = [];
  private count = 0;

  constructor(readonly text: string) {
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.lineStarts.push(at + 1);
  }

  /** Reports an error at an offset in code units; -1 if it concerns no place. */
  report(offset: number, message: Message): void {
    this.count++;
    if (this.count > errorsMax) return;
    this.issues.push({ message: typeof message === 'string' ? message : message(), ...this.placeOf(offset) });
  }

  private placeOf(offset: number): { readonly line: number; readonly column: number } {
    if (offset < 0) return { line: -1, column: -1 };
    // A text without characters has no first one.
    if (this.text === '') return { line: 1, column: -1 };
    let [line, end] = [0, this.lineStarts.length];
    while (end - line > 1) {
      const middle = (line + end) >> 1;
      if (this.lineStarts[middle]! <= offset) line = middle;
      else end = middle;
    }
    return { line: line + 1, column: codePointLength(this.text.slice(this.lineStarts[line], offset)) };
  }

  get hasErrors(): boolean {
    return this.count > 0;
  }

  /** The errors in the order of their places. */
  get errors(): readonly CelIssue[] {
    return [...this.issues].sort((a, b) => a.line - b.line || a.column - b.column);
  }

  /** All errors with the lines they are in, as clients see them. */
  format(): string {
    const shown = this.errors.map((issue) => this.formatIssue(issue));
    if (this.count > errorsMax) shown.push(`${this.count - errorsMax} more errors were truncated`);
    return shown.join('\n');
  }

  private formatIssue({ message, line, column }: CelIssue): string {
    const head = `ERROR: <input>:${line}:${column + 1}: ${message}`;
    const snippet = this.lineText(line)?.replaceAll('\t', ' ');
    if (snippet === undefined || byteLength(snippet) > snippetBytesMax) return head;
    const before = codePointSlice(snippet, 0, column);
    const dots = before.replace(/[\u0000-\u007f]/g, '.').replace(/[^.]/gu, '\uff0e');
    const isWide = codePointSlice(snippet, column, column + 1) > '\u007f';
    return `${head}\n | ${snippet}\n | ${dots}${isWide ? '\uff3e' : '^'}`;
  }

  private lineText(line: number): string | undefined {
    const start = this.lineStarts[line - 1];
    if (start === undefined || this.text === '') return undefined;
    const end = this.lineStarts[line];
    return this.text.slice(start, end === undefined ? undefined : end - 1);
  }
}
