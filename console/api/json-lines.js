/** Splits chunks of a stream into lines. A line may come in thousands of chunks; each is joined once. */
export class LineSplitter {
  #begun = [];

  /** Returns the lines that end in this chunk. */
  push(chunk) {
    const lines = chunk.split('\n');
    const rest = lines.pop();
    if (lines.length > 0 && this.#begun.length > 0) {
      lines[0] = this.#begun.join('') + lines[0];
      this.#begun = [];
    }
    if (rest !== '') this.#begun.push(rest);
    return lines.filter((line) => line !== '');
  }
}
