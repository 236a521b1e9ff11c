import { fieldError } from '../../src/machinery/field-error.js';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import type { Revision } from '../../src/machinery/revision.js';
import type { Mutable } from '../../src/machinery/mutable.js';
import type { Pod } from '../../src/catalog/types/core.v1.js';
import { defineResource, type ResourceDefinition } from '../../src/registry/definition/resource-definition.js';
import { statusSubresource } from '../../src/registry/definition/status-subresource.js';
import type { Strategy } from '../../src/registry/definition/strategy.js';
import { defaultTable } from '../../src/registry/definition/table.js';
import type { RequestContext } from '../../src/registry/request-context.js';
import type { ServedResource } from '../../src/registry/resource-registry.js';
import type { ResourceStore } from '../../src/registry/resource-store.js';
import { createObject } from '../../src/registry/write/create.js';
import type { ManagedFieldsMode, WriteContext } from '../../src/registry/write/write-context.js';
import type { StoreEvent } from '../../src/storage/kv-store.js';
import { ManualClock } from '../../src/std/clock.js';
import { GatedFields } from '../../src/typed/gated-fields.js';
import { registryOf } from './shell.js';

const owner = { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'owner' };

/** A Pod as a client submits it, with a duplicate owner. */
export function submittedPod(
  name: string,
  more: { metadata?: object; spec?: object; status?: object } = {},
): KubeObject {
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name, namespace: 'ns', ownerReferences: [owner, owner], ...more.metadata },
    spec: { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80 }] }], ...more.spec },
    ...(more.status && { status: more.status }),
  };
}

/** Returns the earlier steps whose effect the object shows. */
function effectsOn(object: KubeObject): string {
  const { metadata, spec = {} }: Pod = object;
  const { annotations = {} } = metadata;
  const effects = {
    uid: metadata.uid !== undefined && metadata.uid !== 'forged',
    typeDefaults: spec.containers?.[0]?.ports?.[0]?.protocol === 'TCP',
    kindDefaults: annotations['default'] !== undefined,
    owners: metadata.ownerReferences?.length === 1,
    managedFields: JSON.stringify(metadata.managedFields ?? []).includes('"tester"'),
    admit: annotations['admit'] !== undefined,
    gated: spec.hostnameOverride !== undefined,
    prepare: annotations['prepare'] !== undefined,
    reserve: annotations['reserve'] !== undefined,
    [`generation ${metadata.generation}`]: metadata.generation !== undefined,
  };
  return Object.keys(effects)
    .filter((name) => effects[name as keyof typeof effects])
    .join(', ');
}

function mark(object: KubeObject, step: string): void {
  object.metadata.annotations = { ...object.metadata.annotations, [step]: 'done' };
}

/**
 * A store of Pods on a memory store. Every hook of a write records its step and the effects of earlier steps on the
 * object, then leaves an annotation.
 */
export class WriteWorld {
  readonly clock = new ManualClock();
  /** The steps that ran, in order. */
  readonly steps: string[] = [];
  /** The effects of earlier steps that each step saw. */
  readonly seen = new Map<string, string>();
  /** The status that each step saw. */
  readonly statusSeen = new Map<string, unknown>();
  readonly served: ServedResource;
  readonly store: ResourceStore;
  readonly definition: ResourceDefinition;
  /** The events of the Pods since the last create(). */
  readonly events: ('put' | 'delete')[] = [];
  /** Called by the validating admission of every attempt. */
  onValidate: (object: KubeObject | undefined, old: KubeObject | undefined) => void | Promise<void> = () => undefined;

  constructor(strategy: Partial<Strategy> = {}, more: Partial<ResourceDefinition> = {}) {
    this.definition = defineResource({
      group: '',
      version: 'v1',
      kind: 'Pod',
      plural: 'pods',
      namespaced: true,
      table: defaultTable,
      strategy: { ...this.recordingStrategy(), ...strategy },
      subresources: {
        status: statusSubresource({
          prepare: (object) => this.record('prepare status', object),
          validate: (object) => (this.record('validate status', object), []),
        }),
      },
      ...more,
    });
    const gatedFields = new GatedFields((gate) => gate === 'HostnameOverride');
    this.served = registryOf([this.definition], [], {}, { clock: this.clock, gatedFields }).require('', 'v1', 'pods');
    this.store = this.served.store;
    this.store.reserve = (next, old, { dryRun }) => {
      this.record(next ? 'reserve' : 'release', (next ?? old)!);
      if (next) mark(next, 'reserve');
      if (dryRun) return Promise.resolve(undefined);
      return Promise.resolve({
        compares: [],
        writes: [],
        committed: () => void this.steps.push('txn'),
        conflicted: () => void this.steps.push('conflict'),
        end: () => undefined,
      });
    };
  }

  async start(): Promise<void> {
    const { kv, feed } = this.store.dependencies;
    const sink = {
      events: (events: readonly StoreEvent[]) => void this.events.push(...events.map(({ type }) => type)),
      progress: () => undefined,
      ended: () => undefined,
    };
    kv.watch('/registry/pods/', { from: ((await kv.revision()) + 1) as Revision }, sink);
    await feed.start(new AbortController().signal);
  }

  async stop(): Promise<void> {
    await this.store.dependencies.feed.close();
    await this.store.dependencies.kv.close();
  }

  request(more: Partial<RequestContext> = {}): RequestContext {
    return {
      user: { name: 'ann', uid: '', groups: [], extra: {} },
      signal: undefined,
      warnings: [],
      dryRun: false,
      fieldManager: 'tester',
      auditAnnotations: new Map(),
      ...more,
    };
  }

  context(
    request: Partial<RequestContext> = {},
    managedFields: ManagedFieldsMode = { mode: 'track', definition: this.definition, subresource: '' },
  ): WriteContext {
    return {
      request: this.request(request),
      managedFields,
      admission: {
        admit: (object, old) => {
          this.record('admit', object!);
          const pod: Mutable<Pod> = object!;
          mark(pod, 'admit');
          pod.metadata.ownerReferences = [owner, owner];
          pod.spec = { ...pod.spec, hostnameOverride: 'h' };
          if (old) pod.metadata.uid = 'forged';
          return Promise.resolve();
        },
        validate: async (object, old) => {
          this.record('validating admission', (object ?? old)!);
          await this.onValidate(object, old);
        },
      },
    };
  }

  /** Creates a Pod and forgets the steps. Returns it as stored and cached. */
  async create(name: string, more?: Parameters<typeof submittedPod>[1]): Promise<KubeObject> {
    await createObject(this.store, submittedPod(name, more), this.context());
    const created = (await this.stored(name))!;
    this.steps.length = 0;
    this.events.length = 0;
    this.seen.clear();
    return created;
  }

  /** Returns the stored object, when the cache holds it too. */
  async stored(name: string): Promise<KubeObject | undefined> {
    const { store } = this;
    await store.dependencies.feed.consistentRevision({ timeoutMs: 5000 });
    const { encoded } = await store.storedCurrent(store.keyOf('ns', name), undefined);
    return encoded?.parse();
  }

  /** Changes or deletes the stored object, as another server would. */
  async elsewhere(name: string, change: (object: KubeObject) => KubeObject | undefined): Promise<void> {
    const { codec, dependencies } = this.store;
    const key = this.store.keyOf('ns', name);
    const { encoded } = await this.store.storedCurrent(key, undefined);
    const changed = change(encoded?.parse() ?? submittedPod(name));
    await dependencies.kv.txn(
      [],
      [changed ? { type: 'put', key, value: codec.encode(changed, key) } : { type: 'delete', key }],
    );
  }

  private record(step: string, object: KubeObject): void {
    this.steps.push(step);
    this.seen.set(step, effectsOn(object));
    this.statusSeen.set(step, structuredClone(object['status']));
  }

  private recordingStrategy(): Strategy {
    const bad = ({ metadata }: KubeObject) =>
      metadata.labels?.['bad'] ? [fieldError.forbidden('metadata.labels', 'bad')] : [];
    const validate = (object: KubeObject) => {
      this.record('validate', object);
      return bad(object);
    };
    const prepare = (object: KubeObject) => {
      this.record('prepare', object);
      mark(object, 'prepare');
    };
    return {
      validateName: () => [],
      countsGenerations: true,
      default: (object) => {
        // Stored objects, which have the annotation, get their defaults when they are read, too.
        if (object.metadata.annotations?.['default'] !== undefined) return;
        this.record('default', object);
        mark(object, 'default');
      },
      prepareForCreate: prepare,
      prepareForUpdate: prepare,
      validateCreate: validate,
      validateUpdate: validate,
      warnings: (object) => {
        this.record('warn', object);
        return ['a warning'];
      },
    };
  }
}

/** Sets a label, as a change of an update. */
export function labelled(object: KubeObject, name: string, value = 'yes'): KubeObject {
  return { ...object, metadata: { ...object.metadata, labels: { ...object.metadata.labels, [name]: value } } };
}
