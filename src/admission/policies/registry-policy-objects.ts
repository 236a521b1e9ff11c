import type { EncodedObject } from '../../cache/encoded-object.js';
import type { GroupVersionKind } from '../../machinery/gvk.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { LabelSelector } from '../../machinery/label-selector.js';
import { toServedVersion } from '../../registry/definition/served-version.js';
import { readFresh } from '../../registry/read/freshness.js';
import type { ResourceRegistry, ServedResource } from '../../registry/resource-registry.js';
import type { ResourceStore } from '../../registry/resource-store.js';
import type { Cancellation } from '../../std/cancellation.js';
import { ConfigurationError } from '../request/configuration-error.js';
import type { ParamResource, PolicyListener, PolicyObjects } from './policy-objects.js';

/** Reads the objects of policies from the caches of the registry. */
export class RegistryPolicyObjects implements PolicyObjects {
  private versions = new Map<ResourceStore, readonly ServedResource[]>();
  private params = new Map<string, ParamResource | undefined>();
  private generation = -1;

  constructor(private readonly registry: ResourceRegistry) {}

  follow(group: string, version: string, plural: string, listener: PolicyListener): void {
    let followed: ResourceStore | undefined;
    const update = () => {
      const served = this.registry.find(group, version, plural);
      if (served?.type !== 'stored' || served.store === followed) return;
      followed = served.store;
      followObjects(served, listener);
    };
    update();
    this.registry.onChange(update);
  }

  equivalentsOf(served: ServedResource): readonly ServedResource[] {
    this.forgetOld();
    const { store, definition } = served;
    let all = this.versions.get(store);
    if (!all) {
      all = this.registry.storedResources().filter((other) => other.store === store);
      this.versions.set(store, all);
    }
    return all.filter((other) => other.definition !== definition);
  }

  paramsOf(kind: GroupVersionKind): ParamResource | undefined {
    this.forgetOld();
    const key = `${kind.group}/${kind.version}/${kind.kind}`;
    if (!this.params.has(key)) this.params.set(key, this.findParams(kind));
    return this.params.get(key);
  }

  private findParams({ group, version, kind }: GroupVersionKind): ParamResource | undefined {
    const resources = this.registry.findVersion(group, version)?.resources ?? [];
    const served = resources.find(({ type, definition }) => type === 'stored' && definition.kind === kind);
    return served?.type === 'stored' ? new CachedParams(served) : undefined;
  }

  private forgetOld(): void {
    if (this.generation === this.registry.generation) return;
    this.generation = this.registry.generation;
    this.versions = new Map();
    this.params = new Map();
  }
}

function followObjects({ store }: ServedResource, listener: PolicyListener): void {
  if (!store.cache.isReady) listener.loading(store.cache.ready);
  let names = new Set<string>();
  const read = (entry: EncodedObject) => {
    // An object that cannot be read leaves the last one in force that could.
    if (!entry.corruption) listener.changed(entry.attributes.name, entry.parse());
  };
  store.cache.observe({
    changed({ current, previous }) {
      const { name } = (current ?? previous)!.attributes;
      if (current) {
        names.add(name);
        read(current);
      } else {
        names.delete(name);
        listener.deleted(name);
      }
    },
    reset() {
      const entries = [...store.cache.snapshot().range(store.scopeOf(''))];
      const present = new Set(entries.map(({ attributes }) => attributes.name));
      for (const name of names) if (!present.has(name)) listener.deleted(name);
      names = present;
      entries.forEach(read);
    },
  });
}

class CachedParams implements ParamResource {
  private readonly parsed = new WeakMap<EncodedObject, KubeObject>();

  constructor(private readonly served: ServedResource) {}

  get namespaced(): boolean {
    return this.served.definition.namespaced;
  }

  load(signal: Cancellation | undefined): Promise<void> | undefined {
    const { cache, dependencies } = this.served.store;
    return cache.isReady ? undefined : readFresh(dependencies, cache, '0', { signal });
  }

  get(namespace: string, name: string): KubeObject | undefined {
    const { store } = this.served;
    const found = store.cache.get(store.keyOf(namespace, name));
    return found && this.parse(found);
  }

  select(namespace: string, selector: LabelSelector): readonly KubeObject[] {
    const { store } = this.served;
    const found: KubeObject[] = [];
    for (const entry of store.cache.snapshot().range(store.scopeOf(namespace))) {
      // The labels of an object that cannot be read are not known.
      if (entry.corruption || selector.matches(entry.attributes.labels)) found.push(this.parse(entry));
    }
    return found;
  }

  /**
   * Params are read with every request that a policy matches, so they are parsed once. Throws ConfigurationError for one
   * that cannot be read: it is not a missing one, which a binding may allow.
   */
  private parse(entry: EncodedObject): KubeObject {
    if (entry.corruption) {
      const { name } = entry.attributes;
      throw new ConfigurationError(`the stored param '${name}' cannot be decoded; delete it or write it again`);
    }
    let object = this.parsed.get(entry);
    if (!object) this.parsed.set(entry, (object = toServedVersion(this.served.definition, entry.parse())));
    return object;
  }
}
