import type { KubeObject } from '../../src/machinery/kube-object.js';
import type { Rng } from '../../src/std/rng.js';
import { ApiFailure, type ObjectRef } from '../simulation/api.js';
import type { HttpApi } from '../simulation/http-api.js';
import { pick } from '../simulation/selection.js';
import type { Outcome, ReadCall, WriteCall } from './record.js';
import { namespace, objectNames, versionOf } from './versions.js';
import type { Intent } from './write-model.js';

const finalizer = 'example.com/hold';
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Clients that write a few objects with all verbs, and record their requests and answers. */
export class Writers {
  readonly writes: WriteCall[] = [];
  readonly reads: ReadCall[] = [];
  acknowledged = 0;
  private readonly running: Promise<void>[] = [];
  private isStopped = false;
  private time = 0;

  constructor(
    private readonly apis: readonly HttpApi[],
    private readonly fork: () => Rng,
  ) {}

  start(count: number): void {
    for (let n = 0; n < count; n++) this.running.push(new Writer(`w${n}`, this.fork(), this.apis, this).run());
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await Promise.all(this.running);
  }

  get isOver(): boolean {
    return this.isStopped;
  }

  /** Logical clock: smaller values were earlier. */
  now(): number {
    return ++this.time;
  }

  /** Number of each outcome and failure, for reports. */
  counts(): Record<string, number> {
    const counts: Record<string, number> = { acknowledged: this.acknowledged, reads: this.reads.length };
    for (const { outcome } of this.writes) {
      if (outcome.type === 'object' || outcome.type === 'deleted') continue;
      const name = outcome.type === 'refused' ? outcome.reason : outcome.type === 'unknown' ? outcome.why : 'unreached';
      counts[name] = (counts[name] ?? 0) + 1;
    }
    return counts;
  }
}

type Call = Pick<WriteCall, 'key' | 'intent' | 'expects' | 'mark'>;

class Writer {
  private count = 0;

  constructor(
    private readonly name: string,
    private readonly rng: Rng,
    private readonly apis: readonly HttpApi[],
    private readonly all: Writers,
  ) {}

  async run(): Promise<void> {
    const acts = [
      this.create,
      this.create,
      this.replace,
      this.replace,
      this.merge,
      this.merge,
      this.apply,
      this.remove,
    ];
    while (!this.all.isOver) {
      const wasReached = await pick(this.rng, [...acts, this.release, this.touch]).call(this);
      await sleep(wasReached ? this.rng.below(4) : 10 + this.rng.below(20));
    }
  }

  private create(): Promise<boolean> {
    const { key, mark } = this.next();
    const data = { mark, [`by-${this.rng.below(4)}`]: mark };
    const finalizers = this.rng.below(3) === 0 ? [finalizer] : [];
    const object = { ...bare(key), data };
    if (finalizers.length > 0) object.metadata.finalizers = finalizers;
    return this.write({ key, mark, expects: {}, intent: { verb: 'create', data, finalizers } }, (api, ref) =>
      api.create(ref, object),
    );
  }

  /** PUT of an object that was read, with or without its resourceVersion. */
  private async replace(): Promise<boolean> {
    const { key, mark } = this.next();
    const object = await this.read(key);
    if (!object) return object === undefined;
    const { uid, resourceVersion, finalizers: had = [] } = object.metadata;
    const data: Record<string, string> = { ...(object['data'] as Record<string, string>), mark };
    delete data[`by-${this.rng.below(4)}`];
    const finalizers = pick(this.rng, [had, had, [], [finalizer]]);
    const isConditional = this.rng.below(2) === 0;
    const { resourceVersion: _version, finalizers: _finalizers, ...metadata } = object.metadata;
    const changed: KubeObject = {
      ...object,
      metadata: { ...metadata, finalizers, ...(isConditional && { resourceVersion: resourceVersion! }) },
      data,
    };
    const expects = { uid, ...(isConditional && { revision: Number(resourceVersion) }) };
    return this.write({ key, mark, expects, intent: { verb: 'replace', data, finalizers } }, (api, ref) =>
      api.update(ref, changed),
    );
  }

  private merge(): Promise<boolean> {
    const { key, mark } = this.next();
    const field = `by-${this.rng.below(4)}`;
    const type = pick(this.rng, ['json', 'merge', 'strategic'] as const);
    const data = { mark, [field]: type !== 'json' && this.rng.below(2) === 0 ? null : mark };
    const body =
      type === 'json'
        ? Object.entries(data).map(([name, value]) => ({ op: 'add', path: `/data/${name}`, value }))
        : { data };
    return this.write({ key, mark, expects: {}, intent: { verb: 'merge', data, releases: false } }, (api, ref) =>
      api.patch(ref, type, body),
    );
  }

  /** Each manager always applies the same fields, so that none is removed. */
  private apply(): Promise<boolean> {
    const { key, mark } = this.next();
    const manager = `by-${this.rng.below(4)}`;
    const data: Record<string, string> = { mark, [manager]: mark };
    return this.write({ key, mark, expects: {}, intent: { verb: 'apply', data } }, (api, ref) =>
      api.apply(ref, { ...bare(key), data }, manager),
    );
  }

  private release(): Promise<boolean> {
    const { key, mark } = this.next();
    const intent: Intent = { verb: 'merge', data: { mark }, releases: true };
    const type = pick(this.rng, ['merge', 'strategic'] as const);
    return this.write({ key, mark, expects: {}, intent }, (api, ref) =>
      api.patch(ref, type, { metadata: { finalizers: null }, data: { mark } }),
    );
  }

  private async remove(): Promise<boolean> {
    const { key, mark } = this.next();
    const options: Record<string, unknown> = this.rng.below(2) === 0 ? { propagationPolicy: 'Background' } : {};
    let expects: WriteCall['expects'] = {};
    if (this.rng.below(3) === 0) {
      const object = await this.read(key);
      if (!object) return object === undefined;
      const { uid, resourceVersion } = object.metadata;
      options['preconditions'] = { uid, resourceVersion };
      expects = { uid, revision: Number(resourceVersion) };
    }
    return this.write({ key, mark, expects, intent: { verb: 'delete' } }, (api, ref) => api.remove(ref, options));
  }

  /** An empty patch returns the current object, like a read. */
  private async touch(): Promise<boolean> {
    return (await this.read(this.next().key, (api, ref) => api.patch(ref, 'merge', {}))) !== false;
  }

  /** Returns undefined if the object is absent; false if the read failed. */
  private async read(
    key: string,
    ask = (api: HttpApi, ref: ObjectRef) => api.get(ref, {}),
  ): Promise<KubeObject | undefined | false> {
    const began = this.all.now();
    const note = (object: KubeObject | undefined) => {
      this.all.reads.push({ key, began, ended: this.all.now(), version: object && versionOf(object) });
      return object;
    };
    try {
      return note(await ask(this.api(), refOf(key)));
    } catch (error) {
      if (error instanceof ApiFailure && error.code === 404) return note(undefined);
      if (error instanceof ApiFailure) return false;
      throw error;
    }
  }

  /** Returns true if the server answered. */
  private async write(call: Call, make: (api: HttpApi, ref: ObjectRef) => Promise<KubeObject>): Promise<boolean> {
    const began = this.all.now();
    const note = (outcome: Outcome) => this.all.writes.push({ ...call, began, ended: this.all.now(), outcome });
    try {
      const answer = await make(this.api(), refOf(call.key));
      if (answer.kind !== 'Status') note({ type: 'object', version: versionOf(answer) });
      else note({ type: 'deleted', uid: (answer['details'] as { uid: string }).uid });
      this.all.acknowledged++;
      return true;
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      if (!error.leavesDoubt) note({ type: 'refused', reason: error.reason });
      else if (error.message.includes('ECONNREFUSED')) note({ type: 'unreached' });
      else note({ type: 'unknown', why: kindOf(error) });
      return !error.leavesDoubt;
    }
  }

  private api(): HttpApi {
    return pick(this.rng, this.apis);
  }

  private next(): { key: string; mark: string } {
    return { key: pick(this.rng, objectNames), mark: `write-${this.name}-${this.count++}` };
  }
}

const refOf = (name: string): ObjectRef => ({ resource: 'configmaps', namespace, name });
const bare = (name: string): KubeObject => ({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name, namespace } });

/** `no answer (ECONNRESET)`, `503 ServiceUnavailable`. */
function kindOf({ code, reason, message }: ApiFailure): string {
  if (code !== 0) return `${code} ${reason}`;
  return `no answer (${/\bE[A-Z]{4,}|socket hang up|no answer in|aborted/.exec(message)?.[0] ?? message.slice(-60)})`;
}
