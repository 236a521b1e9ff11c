/** Runs tasks of the same key one after another; tasks of different keys do not wait for each other. */
export class SerialTasks {
  private readonly last = new Map<string, Promise<unknown>>();

  run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const before = this.last.get(key) ?? Promise.resolve();
    const running = before.then(task, task);
    this.last.set(key, running);
    const forget = () => {
      if (this.last.get(key) === running) this.last.delete(key);
    };
    running.then(forget, forget);
    return running;
  }
}
