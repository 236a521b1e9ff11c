/** Tasks of one name, one after the other; those of different names do not wait for each other. */
export class Turns {
  private readonly last = new Map<string, Promise<unknown>>();

  take<T>(name: string, task: () => Promise<T>): Promise<T> {
    const before = this.last.get(name) ?? Promise.resolve();
    const mine = before.then(task, task);
    this.last.set(name, mine);
    const leave = () => {
      if (this.last.get(name) === mine) this.last.delete(name);
    };
    mine.then(leave, leave);
    return mine;
  }
}
