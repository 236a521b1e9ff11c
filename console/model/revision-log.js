const seenMax = 2_000;

/** The revisions that the watches of this session have seen, for the timeline. */
export class RevisionLog {
  #seen = [];

  add(revision) {
    const number = Number(revision);
    if (!Number.isSafeInteger(number) || number <= (this.#seen.at(-1)?.revision ?? 0)) return;
    this.#seen.push({ revision: number, at: Date.now() });
    if (this.#seen.length > 2 * seenMax) this.#seen = this.#seen.slice(-seenMax);
  }

  get all() {
    return this.#seen;
  }

  /** Returns the time at which a revision, or the next one after it, was seen. */
  timeOf(revision) {
    return this.#seen.find((one) => one.revision >= revision)?.at;
  }
}
