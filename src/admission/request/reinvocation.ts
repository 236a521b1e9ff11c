import { deepEqual } from '../../machinery/deep-equal.js';
import type { JsonValue, KubeObject } from '../../machinery/kube-object.js';
import { copyJson } from '../../patch/copy-json.js';

/**
 * Webhooks or policies with reinvocationPolicy IfNeeded that run again when all plug-ins do: those that ran before a change
 * by a later one, and all if another plug-in has changed the object since.
 */
export class Reinvocation {
  private readonly invoked = new Set<string>();
  private readonly due = new Set<string>();
  private lastObject: JsonValue | undefined;
  /** True if one has changed the object, so that all plug-ins run again. */
  hasChanged = false;

  isDue(id: string): boolean {
    return this.due.has(id);
  }

  /** Adds one that runs in the first round. A change that is noted before does not make it due. */
  add(id: string): void {
    this.invoked.add(id);
  }

  noteChange(): void {
    this.hasChanged = true;
    this.repeatAll();
  }

  /** Keeps the object at the end of the first round. */
  endRound(object: KubeObject): void {
    if (this.invoked.size > 0) this.lastObject = copyJson(object as unknown as JsonValue);
  }

  beginAgain(object: KubeObject): void {
    if (this.lastObject !== undefined && !deepEqual(this.lastObject, object)) this.repeatAll();
    this.lastObject = undefined;
  }

  get hasDue(): boolean {
    return this.due.size > 0;
  }

  private repeatAll(): void {
    for (const id of this.invoked) this.due.add(id);
  }
}
