import type { Pod } from '../../catalog/types/core.v1.js';
import type { CacheEvent } from '../../cache/cache-event.js';
import type { EncodedObject } from '../../cache/encoded-object.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { isMirrorPod } from '../../pods/containers.js';
import { noReferences, podReferences, type PodReferences } from '../../pods/pod-references.js';
import type { ResourceRegistry } from '../../registry/resource-registry.js';
import type { ResourceStore } from '../../registry/resource-store.js';
import type { Steps } from '../../std/steps.js';

interface NodePod {
  readonly object: EncodedObject;
  /** Undefined until the Pod was parsed. */
  references: PodReferences | undefined;
}

type PodsByKey = Map<string, NodePod>;

/**
 * Pods by node and namespace, updated from the watch cache. A Pod is parsed when its node first asks for an object in
 * its namespace, in steps, since many Pods may be large.
 */
export class NodePods {
  private byNode = new Map<string, Map<string, PodsByKey>>();
  private followed: ResourceStore | undefined;

  constructor(
    private readonly registry: ResourceRegistry,
    private readonly naming: NamingProfile,
  ) {
    // At once: indexing the Pods of a large cluster during a request would hold the others up.
    registry.onChange(() => this.follow());
    this.follow();
  }

  hasPod(node: string, namespace: string, name: string): boolean {
    const key = this.followed?.keyOf(namespace, name);
    return key !== undefined && this.byNode.get(node)?.get(namespace)?.has(key) === true;
  }

  /** True if a Pod of the node refers to the object. */
  *refersTo(node: string, kind: keyof PodReferences, namespace: string, name: string): Steps<boolean> {
    for (const pod of this.byNode.get(node)?.get(namespace)?.values() ?? []) {
      const isParsed = pod.references !== undefined;
      if (this.referencesOf(pod)[kind].has(name)) return true;
      // A look at a parsed Pod takes less than asking for the time.
      if (!isParsed) yield;
    }
    return false;
  }

  /** True if a Pod of the node uses a claim that fulfils the condition. */
  *usesClaim(node: string, isWanted: (namespace: string, name: string) => boolean): Steps<boolean> {
    for (const [namespace, pods] of this.byNode.get(node) ?? []) {
      for (const pod of pods.values()) {
        const isParsed = pod.references !== undefined;
        for (const name of this.referencesOf(pod).claims) {
          if (isWanted(namespace, name)) return true;
          yield;
        }
        if (!isParsed) yield;
      }
    }
    return false;
  }

  /** Nodes create mirror Pods themselves, so these give access to nothing. */
  private referencesOf(pod: NodePod): PodReferences {
    return (pod.references ??= this.parse(pod.object));
  }

  private parse(object: EncodedObject): PodReferences {
    const pod: Pod = object.parse();
    return isMirrorPod(pod, this.naming.label('config.mirror')) ? noReferences : podReferences(pod);
  }

  private follow(): void {
    const served = this.registry.find('', 'v1', 'pods');
    if (served?.type !== 'stored' || served.store === this.followed) return;
    const { store } = served;
    this.followed = store;
    store.cache.observe({
      changed: ({ previous, current }: CacheEvent) => {
        if (previous) this.remove(previous);
        if (current) this.add(current);
      },
      reset: () => {
        this.byNode = new Map();
        for (const pod of store.cache.snapshot().range(store.scopeOf(''))) this.add(pod);
      },
    });
  }

  private add(pod: EncodedObject): void {
    const { namespace, fields } = pod.attributes;
    const node = fields['spec.nodeName'] ?? '';
    if (node === '' || pod.corruption) return;
    const byNamespace = this.byNode.get(node) ?? new Map<string, PodsByKey>();
    this.byNode.set(node, byNamespace);
    const pods = byNamespace.get(namespace) ?? new Map<string, NodePod>();
    byNamespace.set(namespace, pods);
    pods.set(pod.key, { object: pod, references: undefined });
  }

  private remove({ key, attributes: { namespace, fields } }: EncodedObject): void {
    const node = fields['spec.nodeName'] ?? '';
    const byNamespace = this.byNode.get(node);
    const pods = byNamespace?.get(namespace);
    if (!byNamespace || !pods?.delete(key) || pods.size > 0) return;
    byNamespace.delete(namespace);
    if (byNamespace.size === 0) this.byNode.delete(node);
  }
}
