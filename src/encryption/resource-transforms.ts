import type { GroupResource } from '../machinery/gvk.js';
import type { ValueTransformer, ValueTransforms } from '../storage/value-transforms.js';

/** Transformers by resource as the configuration writes it: `secrets`, `widgets.example.com`, `*.apps`, `*.`, `*.*`. */
export type TransformerRules = ReadonlyMap<string, ValueTransformer>;

/**
 * Keys that hold no objects, under the names that kube-apiserver gives them. Only rules with a wildcard can match those in
 * capital letters.
 */
const internalKeys: readonly (readonly [path: string, resource: string])[] = [
  ['ranges', 'services'],
  ['masterleases', 'apiServerIPInfo'],
  ['peerserverleases', 'apiServerPeerIPInfo'],
];

/** Paths whose transformer is remembered; any number of names can be under the root. */
const pathsMax = 2_000;

/** Finds the transformer of a key: by its resource, by its group, or for everything. */
export class ResourceTransforms implements ValueTransforms {
  /** Paths below the root: `secrets`, `services/specs`. */
  private readonly resources = new Map<string, GroupResource>(
    internalKeys.map(([path, resource]) => [path, { group: '', resource }]),
  );
  /** First segments of paths with two segments, beside groups of custom resources. */
  private readonly parents = new Set<string>();
  private found = new Map<string, ValueTransformer | undefined>();

  constructor(
    /** `/registry/` */
    private readonly root: string,
    private rules: TransformerRules,
  ) {}

  replaceRules(rules: TransformerRules): void {
    this.rules = rules;
    this.found = new Map();
  }

  addResource(prefix: string, resource: GroupResource): void {
    const path = prefix.slice(this.root.length, -1);
    const [first = '', second] = path.split('/', 2);
    if (second !== undefined) this.parents.add(first);
    this.resources.set(path, resource);
    this.found = new Map();
  }

  of(key: string): ValueTransformer | undefined {
    const { root } = this;
    const end = key.indexOf('/', root.length);
    if (end < 0 || !key.startsWith(root)) return undefined;
    let path = key.slice(root.length, end);
    if (path.includes('.') || this.parents.has(path)) {
      const second = key.indexOf('/', end + 1);
      if (second < 0) return undefined;
      path = key.slice(root.length, second);
    }
    const known = this.found.get(path);
    if (known !== undefined || this.found.has(path)) return known;
    const transformer = this.transformerOf(path);
    if (this.found.size >= pathsMax) this.found = new Map();
    this.found.set(path, transformer);
    return transformer;
  }

  private transformerOf(path: string): ValueTransformer | undefined {
    const resource = this.resources.get(path) ?? customResourceOf(path);
    if (!resource) return undefined;
    return (
      this.rules.get(resource.group === '' ? resource.resource : `${resource.resource}.${resource.group}`) ??
      this.rules.get(`*.${resource.group}`) ??
      this.rules.get('*.*')
    );
  }
}

/** Objects of custom resources are under their group and plural, before their definition is loaded too. */
function customResourceOf(path: string): GroupResource | undefined {
  const [group = '', resource] = path.split('/', 2);
  return group.includes('.') && resource !== undefined ? { group, resource } : undefined;
}
