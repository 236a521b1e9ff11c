import type { KubeObject } from '../../src/machinery/kube-object.js';
import { sleep, type Clock } from '../../src/std/clock.js';
import type { Rng } from '../../src/std/rng.js';
import { ApiFailure, keyOf, type Api, type Call, type ListPage, type ObjectRef } from './api.js';
import type { GetSeen, Ledger, ListSeen, WriteSeen } from './ledger.js';
import { colors, names, namespaces, nodes, phases, pick, randomSelection, resources } from './selection.js';

export interface ClientOptions {
  readonly name: string;
  /** Servers to choose from for each request. */
  readonly apis: readonly Api[];
  readonly clock: Clock;
  readonly rng: Rng;
  readonly ledger: Ledger;
  readonly pauseMsMax: number;
  /** False if no fault is active: then every failure is reported. */
  readonly mayFail: () => boolean;
}

type Pages = ListSeen['pages'][number][];

const kinds = { configmaps: 'ConfigMap', pods: 'Pod' } as const;
/** Refusals by a healthy server: conflicts with other writers, and versions that are too old. */
const expectedRefusals = new Set(['AlreadyExists', 'Conflict', 'NotFound', 'Expired', 'Gone']);

/** A client that reads and writes at random, and records the answers. */
export class Client {
  private count = 0;

  constructor(private readonly options: ClientOptions) {}

  async run(stop: AbortSignal): Promise<void> {
    const { rng, clock, pauseMsMax, ledger, name } = this.options;
    const acts: (() => Promise<void>)[] = [
      () => this.create(),
      () => this.create(),
      () => this.update(),
      () => this.update(),
      () => this.patch(),
      () => this.patch(),
      () => this.patchStatus(),
      () => this.remove(),
      () => (rng.below(8) === 0 ? this.removeAll() : this.remove()),
      () => this.get(),
      () => this.list(),
      () => this.listPages(),
    ];
    while (!stop.aborted) {
      try {
        await pick(rng, acts)();
      } catch (error) {
        if (!(error instanceof ApiFailure)) throw error;
        const isExpected = this.options.mayFail() || expectedRefusals.has(error.reason);
        if (!isExpected) ledger.surprises.push(`${name}: ${error.message}`);
      }
      await sleep(clock, rng.below(pauseMsMax + 1), stop).catch(() => undefined);
    }
  }

  private create(): Promise<void> {
    const ref = this.randomRef();
    const mark = this.nextMark();
    return this.write({ verb: 'create', ref, mark }, (api, call) => api.create(ref, this.object(ref, mark), call));
  }

  private async update(): Promise<void> {
    const { rng } = this.options;
    const ref = this.randomRef();
    const object = await this.read(ref);
    if (!object) return;
    const mark = this.nextMark();
    const changed = this.withColorAndMark(object, mark);
    const isConditional = rng.below(4) > 0;
    const replaces = isConditional ? Number(object.metadata.resourceVersion) : undefined;
    if (!isConditional) delete changed.metadata.resourceVersion;
    await this.write({ verb: 'update', ref, mark, replaces }, (api, call) => api.update(ref, changed, call));
  }

  private patch(): Promise<void> {
    const { rng } = this.options;
    const ref = this.randomRef();
    const mark = this.nextMark();
    const color = rng.below(4) === 0 ? null : pick(rng, colors);
    const type = pick(rng, ['json', 'merge', 'strategic'] as const);
    if (type !== 'json') {
      const body = { metadata: { labels: { color }, annotations: { mark } } };
      return this.write({ verb: 'patch', ref, mark }, (api, call) => api.patch(ref, type, body, call));
    }
    const body = [
      { op: 'add', path: '/metadata/annotations/mark', value: mark },
      { op: 'add', path: '/metadata/labels', value: color === null ? {} : { color } },
    ];
    return this.write({ verb: 'patch', ref, mark }, (api, call) => api.patch(ref, 'json', body, call));
  }

  private patchStatus(): Promise<void> {
    const mark = this.nextMark();
    const ref = { ...this.randomRef(), resource: 'pods' as const, subresource: 'status' };
    const body = { status: { phase: pick(this.options.rng, phases), message: mark } };
    return this.write({ verb: 'patch', ref, mark }, (api, call) => api.patch(ref, 'merge', body, call));
  }

  private async remove(): Promise<void> {
    const { rng } = this.options;
    const ref = this.randomRef();
    // With a grace period Pods would wait for their kubelet.
    const options: Record<string, unknown> = { gracePeriodSeconds: 0 };
    let replaces: number | undefined;
    if (rng.below(3) === 0) {
      const object = await this.read(ref);
      if (!object) return;
      replaces = Number(object.metadata.resourceVersion);
      const { uid, resourceVersion } = object.metadata;
      options['preconditions'] = { uid, resourceVersion };
    }
    await this.write({ verb: 'delete', ref, replaces }, (api, call) => api.remove(ref, options, call));
  }

  private async removeAll(): Promise<void> {
    const { rng, ledger, name } = this.options;
    const selection = { ...randomSelection(rng), namespace: pick(rng, namespaces) };
    const isDryRun = rng.below(4) === 0;
    const removed = await this.api().removeAll(selection, { dryRun: isDryRun });
    if (isDryRun) return;
    for (const object of removed) {
      ledger.acknowledge(object);
      const ref = { resource: selection.resource, namespace: selection.namespace, name: object.metadata.name! };
      // The list shows the last state, which may have the version before the deletion.
      const { resourceVersion: _, ...metadata } = object.metadata;
      const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, details: { uid: metadata.uid } };
      ledger.writes.push({
        who: name,
        verb: 'delete',
        key: keyOf(ref),
        mark: undefined,
        replaces: undefined,
        isDryRun,
        outcome: { type: 'acknowledged', object: status },
      });
    }
  }

  private async get(): Promise<void> {
    await this.read(this.randomRef(), pick(this.options.rng, ['latest', 'latest', 'any', 'version']));
  }

  private async list(): Promise<void> {
    const { rng, ledger, name } = this.options;
    const selection = randomSelection(rng);
    const how = pick(rng, ['latest', 'latest', 'any', 'version', 'exact'] as const);
    const version = Math.max(1, ledger.acknowledged - rng.below(20));
    const atLeast = { latest: ledger.acknowledged, any: 0, version, exact: version }[how];
    const query = {
      latest: {},
      any: { resourceVersion: '0' },
      version: { resourceVersion: String(version), resourceVersionMatch: 'NotOlderThan' },
      exact: { resourceVersion: String(version), resourceVersionMatch: 'Exact' },
    }[how];
    const page = await this.api().list(selection, { ...selection.query, ...query });
    const exactly = how === 'exact' ? version : undefined;
    ledger.lists.push({ who: name, selection, atLeast, exactly, pages: [{ ...page, isLast: true }] });
  }

  private async listPages(): Promise<void> {
    const { rng, ledger, name, clock } = this.options;
    const selection = randomSelection(rng);
    const atLeast = ledger.acknowledged;
    const pages: Pages = [];
    ledger.lists.push({ who: name, selection, atLeast, exactly: undefined, pages });
    let token: string | undefined = '';
    while (token !== undefined) {
      const query = { ...selection.query, limit: String(1 + rng.below(4)), ...(token !== '' && { continue: token }) };
      let page: ListPage;
      try {
        page = await this.api().list(selection, query);
      } catch (error) {
        // A list whose continuation failed promises nothing.
        if (pages.length === 0)
          ledger.lists.splice(
            ledger.lists.findIndex((list) => list.pages === pages),
            1,
          );
        throw error;
      }
      pages.push({ ...page, isLast: page.continueToken === undefined });
      token = page.continueToken;
      await sleep(clock, rng.below(200));
    }
  }

  private async read(ref: ObjectRef, how = 'latest'): Promise<KubeObject | undefined> {
    const { rng, ledger, name } = this.options;
    const version = Math.max(1, ledger.acknowledged - rng.below(10));
    const atLeast = how === 'latest' ? ledger.acknowledged : how === 'any' ? 0 : version;
    const query = how === 'latest' ? {} : { resourceVersion: how === 'any' ? '0' : String(version) };
    const note = (object: KubeObject | undefined) => {
      const seen: GetSeen = { who: name, key: keyOf(ref), atLeast, object };
      ledger.gets.push(seen);
      return object;
    };
    try {
      return note(structuredClone(await this.api().get(ref, query)));
    } catch (error) {
      if (error instanceof ApiFailure && error.code === 404) return note(undefined);
      throw error;
    }
  }

  private async write(
    { verb, ref, mark, replaces }: { verb: string; ref: ObjectRef; mark?: string; replaces?: number | undefined },
    make: (api: Api, call: Call) => Promise<KubeObject>,
  ): Promise<void> {
    const { rng, ledger, name, clock } = this.options;
    const isDryRun = rng.below(20) === 0;
    const gaveUp = new AbortController();
    const patience =
      rng.below(15) === 0 ? clock.after(rng.below(10), () => gaveUp.abort(new Error('impatient'))) : undefined;
    const note = (outcome: WriteSeen['outcome']) =>
      ledger.writes.push({ who: name, verb, key: keyOf(ref), mark, replaces, isDryRun, outcome });
    try {
      const object = await make(this.api(), { dryRun: isDryRun, ...(patience && { signal: gaveUp.signal }) });
      note({ type: 'acknowledged', object: structuredClone(object) });
      if (!isDryRun) ledger.acknowledge(object);
    } catch (error) {
      const isDoubtful = gaveUp.signal.aborted || (error instanceof ApiFailure && error.leavesDoubt);
      note(isDoubtful ? { type: 'unknown' } : { type: 'refused', why: (error as Error).message });
      if (!gaveUp.signal.aborted) throw error;
    } finally {
      patience?.cancel();
    }
  }

  private api(): Api {
    return pick(this.options.rng, this.options.apis);
  }

  private randomRef(): ObjectRef {
    const { rng } = this.options;
    return { resource: pick(rng, resources), namespace: pick(rng, namespaces), name: pick(rng, names) };
  }

  private nextMark(): string {
    return `write-${this.options.name}-${this.count++}`;
  }

  private object({ resource, namespace, name }: ObjectRef, mark: string): KubeObject {
    const node = pick(this.options.rng, nodes);
    const bare: KubeObject = { kind: kinds[resource], apiVersion: 'v1', metadata: { name, namespace } };
    if (resource === 'configmaps') return this.withColorAndMark({ ...bare, data: {} }, mark);
    const spec = { containers: [{ name: 'c', image: 'i' }], ...(node !== '' && { nodeName: node }) };
    return this.withColorAndMark({ ...bare, spec }, mark);
  }

  /** The same object with another colour and the mark of this write. */
  private withColorAndMark(object: KubeObject, mark: string): KubeObject {
    const { rng } = this.options;
    const { labels: _, ...metadata } = object.metadata;
    const labels = rng.below(4) === 0 ? {} : { labels: { color: pick(rng, colors) } };
    return { ...object, metadata: { ...metadata, ...labels, annotations: { mark } } };
  }
}
