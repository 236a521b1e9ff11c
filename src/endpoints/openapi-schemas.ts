import type { GroupVersionKind } from '../machinery/gvk.js';
import {
  apiVersion,
  kind,
  listOf,
  metaSchemas,
  typedMetaSchemas,
  type MetaSchema,
  type Schema,
} from './openapi-meta-schemas.js';

/** Swagger 2.0 and OpenAPI 3.0 keep schemas in different places and differ in what may stand beside a reference. */
export type Dialect = 'v2' | 'v3';

/**
 * The schemas that one document needs, by name. Whoever refers to one adds it, and what that one refers to in turn, so
 * that no document has a reference that leads nowhere and none has schemas that nothing refers to.
 *
 * What is said of a kind is what every object has; its other fields are open.
 */
export class OpenApiSchemas {
  private readonly schemas = new Map<string, Schema>();
  private readonly root: string;
  private readonly metaPackage: string;

  constructor(
    private readonly dialect: Dialect,
    /** `k8s.io`: schemas are named by it from behind, as packages are: `io.k8s.api.core.v1.Pod`. */
    private readonly apiDomain: string,
  ) {
    this.root = reversed(apiDomain);
    this.metaPackage = `${this.root}.apimachinery.pkg.apis.meta.v1`;
  }

  /** By name, so that the same schemas make the same bytes. */
  all(): Record<string, Schema> {
    return Object.fromEntries([...this.schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  object(gvk: GroupVersionKind): Schema {
    return this.named(`${this.packageOf(gvk)}.${gvk.kind}`, () => ({
      type: 'object',
      properties: { apiVersion, kind, metadata: this.described('What every object has.', this.meta('ObjectMeta')) },
      'x-kubernetes-group-version-kind': [gvkOf(gvk)],
      'x-kubernetes-preserve-unknown-fields': true,
    }));
  }

  list(gvk: GroupVersionKind, listKind: string): Schema {
    return this.named(`${this.packageOf(gvk)}.${listKind}`, () => ({
      type: 'object',
      required: ['items'],
      properties: {
        apiVersion,
        items: listOf(this.object(gvk)),
        kind,
        metadata: this.described('Where the list stands.', this.meta('ListMeta')),
      },
      'x-kubernetes-group-version-kind': [gvkOf({ ...gvk, kind: listKind })],
    }));
  }

  /** A schema of the API machinery. */
  meta(name: MetaSchema): Schema {
    return this.named(`${this.metaPackage}.${name}`, () => {
      const schema = metaSchemas[name]((other) => this.meta(other));
      return typedMetaSchemas.has(name)
        ? { ...schema, 'x-kubernetes-group-version-kind': [gvkOf({ group: '', version: 'v1', kind: name })] }
        : schema;
    });
  }

  private named(name: string, make: () => Schema): Schema {
    if (!this.schemas.has(name)) {
      // Before it is made: schemas may refer to themselves.
      this.schemas.set(name, {});
      this.schemas.set(name, make());
    }
    return { $ref: `#/${this.dialect === 'v2' ? 'definitions' : 'components/schemas'}/${name}` };
  }

  /** In OpenAPI 3.0 all that stands beside a reference is ignored. */
  private described(description: string, ref: Schema): Schema {
    return this.dialect === 'v2' ? { description, ...ref } : { description, default: {}, allOf: [ref] };
  }

  /** `rbac.authorization.k8s.io` → `io.k8s.api.rbac`; groups of other domains are their own packages. */
  private packageOf({ group, version }: GroupVersionKind): string {
    const isOwn = !group.includes('.') || group.endsWith(`.${this.apiDomain}`);
    if (!isOwn) return `${reversed(group)}.${version}`;
    return `${this.root}.api.${group === '' ? 'core' : group.slice(0, (group + '.').indexOf('.'))}.${version}`;
  }
}

export function gvkOf({ group, version, kind }: GroupVersionKind): GroupVersionKind {
  return { group, version, kind };
}

function reversed(domain: string): string {
  return domain.split('.').reverse().join('.');
}
