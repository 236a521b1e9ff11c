import type { KubeObject } from '../machinery/kube-object.js';
import type { ResourceRegistry } from '../registry/resource-registry.js';
import type { ResourceStore } from '../registry/resource-store.js';
import type { FlowControl, FlowObjects } from './flow-control.js';

/**
 * Puts the FlowSchemas and PriorityLevelConfigurations of the watch caches into force, in the turn of the event loop
 * after a change. Changes of their status alone have no effect. Returns a function that ends it.
 */
export function followFlowObjects(registry: ResourceRegistry, group: string, control: FlowControl): () => void {
  const followed = new Map<string, { readonly store: ResourceStore; readonly end: () => void }>();
  let isScheduled = false;
  let isEnded = false;
  const objectsOf = (plural: string): KubeObject[] => {
    const store = followed.get(plural)?.store;
    if (!store?.cache.isReady) return [];
    const entries = [...store.cache.snapshot().range(store.scopeOf(''))];
    return entries.filter(({ corruption }) => !corruption).map((entry) => entry.parse());
  };
  const apply = (): void => {
    isScheduled = false;
    if (isEnded) return;
    const objects: FlowObjects = {
      schemas: objectsOf('flowschemas'),
      levels: objectsOf('prioritylevelconfigurations'),
    };
    control.configure(objects);
  };
  const changed = (): void => {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(apply);
  };
  const follow = (): void => {
    for (const plural of ['flowschemas', 'prioritylevelconfigurations']) {
      const found = registry.find(group, 'v1', plural);
      const store = found?.type === 'stored' ? found.store : undefined;
      if (!store || followed.get(plural)?.store === store) continue;
      followed.get(plural)?.end();
      followed.set(plural, { store, end: () => undefined });
      const end = store.cache.observe({
        changed: ({ current, previous }) => {
          const generation = (object: KubeObject | undefined) => object?.metadata.generation;
          if (!current || !previous || current.corruption || previous.corruption) return changed();
          if (generation(current.parse()) !== generation(previous.parse())) changed();
        },
        reset: changed,
      });
      followed.set(plural, { store, end });
    }
  };
  follow();
  const forget = registry.onChange(follow);
  return () => {
    isEnded = true;
    forget();
    for (const { end } of followed.values()) end();
  };
}
