import type { GroupVersionKind } from '../machinery/gvk.js';
import type { StructType, TypeSource, ValueName } from '../machinery/type-model.js';
import type { ResourceDefinition } from '../registry/definition/resource-definition.js';
import { customSchema } from './custom-schemas.js';
import type { GroupVersion, OpenApiKinds } from './kinds.js';
import type { ApiParameter } from './parameters.js';
import { describeField } from './texts.js';
import { structSchema, valueSchemas, type Dialect, type Schema } from './type-schemas.js';

interface SchemaDependencies {
  readonly types: TypeSource;
  readonly kinds: OpenApiKinds;
  /** `k8s.io`. Names of schemas begin with it in reverse order, as packages do: `io.k8s.api.core.v1.Pod`. */
  readonly apiDomain: string;
  /** Returns the definition of a custom kind, undefined for other kinds. */
  readonly customKind: (gvk: GroupVersionKind) => ResourceDefinition | undefined;
}

/** Types of the API machinery, by their names in `meta.v1`. */
export type MetaSchema =
  | 'APIGroup'
  | 'APIGroupList'
  | 'APIResourceList'
  | 'APIVersions'
  | 'DeleteOptions'
  | 'ListMeta'
  | 'ObjectMeta'
  | 'Patch'
  | 'Status'
  | 'WatchEvent';

/** Types that belong to every group and version; their schemas list all of them as kinds. */
const everywhere: ReadonlySet<string> = new Set(['DeleteOptions', 'WatchEvent'].map(metaName));

const string = { type: 'string' };

/**
 * Schemas of one document, by name. A reference adds the schema and those that it refers to, so that a document
 * contains exactly the schemas that are used.
 *
 * Custom kinds have the schema of their CRD. Other kinds that the catalog does not contain get apiVersion, kind and
 * metadata, and preserve unknown fields.
 */
export class OpenApiSchemas {
  private readonly schemas = new Map<string, Schema>();
  private readonly root: string;

  constructor(
    private readonly dependencies: SchemaDependencies,
    private readonly dialect: Dialect,
    /** Groups and versions of the document. */
    private readonly groupVersions: readonly GroupVersion[],
  ) {
    this.root = reversed(dependencies.apiDomain);
  }

  /** Returns all schemas sorted by name, so that the same schemas are encoded as the same bytes. */
  all(): Record<string, Schema> {
    return Object.fromEntries([...this.schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** True if the catalog contains the type of the kind. */
  knows(gvk: GroupVersionKind): boolean {
    return this.typeOf(gvk) !== undefined;
  }

  object(gvk: GroupVersionKind): Schema {
    const type = this.typeOf(gvk);
    if (type) return this.refer(type);
    const custom = this.dependencies.customKind(gvk);
    if (custom) return this.named(customName(gvk), () => this.customObject(custom));
    return this.named(`${this.packageOf(gvk)}.${gvk.kind}`, () => ({
      type: 'object',
      properties: this.withType({ metadata: this.field('ObjectMeta', 'metadata') }),
      'x-kubernetes-group-version-kind': [gvkOf(gvk)],
      'x-kubernetes-preserve-unknown-fields': true,
    }));
  }

  list(item: GroupVersionKind, listKind: string): Schema {
    const gvk = { ...item, kind: listKind };
    const type = this.typeOf(gvk);
    if (type) return this.refer(type);
    const custom = this.dependencies.customKind(item);
    const name = custom ? customName(gvk) : `${this.packageOf(gvk)}.${listKind}`;
    return this.named(name, () => ({
      ...(custom && { description: `Objects of the kind ${item.kind}.` }),
      type: 'object',
      required: ['items'],
      properties: this.withType({
        items: {
          ...(custom && { description: describeField('List', 'items') }),
          ...{ type: 'array', items: this.object(item) },
        },
        metadata: this.field('ListMeta', 'metadata', custom !== undefined),
      }),
      'x-kubernetes-group-version-kind': [gvkOf(gvk)],
      ...(custom && selectableFieldsOf(custom)),
    }));
  }

  private customObject(definition: ResourceDefinition): Schema {
    const own = {
      'x-kubernetes-group-version-kind': [gvkOf(definition)],
      ...selectableFieldsOf(definition),
    };
    const author = definition.customType?.openApiSchema;
    if (!author) return { type: 'object', ...own };
    const fields = { ...this.typeFields(), metadata: this.field('ObjectMeta', 'metadata', true) };
    return { ...customSchema(author, this.dialect, fields), ...own };
  }

  meta(name: MetaSchema): Schema {
    return this.refer(this.dependencies.types.struct(metaName(name)));
  }

  versionInfo(): Schema {
    return this.refer(this.dependencies.types.struct('version.Info'));
  }

  /** Returns the query parameters of a connect subresource: the scalar fields of its options type. */
  queryOf(options: GroupVersionKind): ApiParameter[] {
    const types = { string: 'string', bytes: 'string', bool: 'boolean', float64: undefined, ...integers } as const;
    return [...(this.typeOf(options)?.byName.values() ?? [])].flatMap(({ name, type }): ApiParameter[] => {
      const plain = type.form === 'list' ? type.of : type;
      const known =
        plain.form === 'scalar' && name !== 'kind' && name !== 'apiVersion' ? types[plain.scalar] : undefined;
      return known === undefined ? [] : [{ name, in: 'query', type: known }];
    });
  }

  private typeOf({ group, version, kind }: GroupVersionKind): StructType | undefined {
    return this.dependencies.types.kind(group, version, kind);
  }

  private readonly refer = (type: StructType | ValueName): Schema => {
    if (typeof type === 'string') return this.named(this.valueName(type), () => valueSchemas[this.dialect][type]);
    return this.named(type.modelName, () => {
      const schema = structSchema(type, { dialect: this.dialect, refer: this.refer, describe: describeField });
      const gvk = this.dependencies.kinds.kindOf(type.name);
      return gvk ? { ...schema, 'x-kubernetes-group-version-kind': this.kindsOf(type.name, gvk) } : schema;
    });
  };

  private kindsOf(struct: string, gvk: GroupVersionKind): GroupVersionKind[] {
    const others = everywhere.has(struct) ? this.groupVersions.filter(({ group }) => group !== gvk.group) : [];
    return [gvk, ...others.map(({ group, version }) => ({ group, version, kind: gvk.kind }))];
  }

  private named(name: string, make: () => Schema): Schema {
    if (!this.schemas.has(name)) {
      // Set before it is computed, since schemas may refer to themselves.
      this.schemas.set(name, {});
      this.schemas.set(name, make());
    }
    return { $ref: `#/${this.dialect === 'v2' ? 'definitions' : 'components/schemas'}/${name}` };
  }

  private withType(properties: Record<string, Schema>): Record<string, Schema> {
    return Object.fromEntries(
      Object.entries({ ...properties, ...this.typeFields() }).sort(([a], [b]) => (a < b ? -1 : 1)),
    );
  }

  private typeFields() {
    const field = (name: string) => ({ description: describeField('meta.v1.TypeMeta', name), ...string });
    return { apiVersion: field('apiVersion'), kind: field('kind') };
  }

  /** Returns a reference to the schema of metadata. As in kube-apiserver, v3 sets a default except for custom kinds. */
  private field(meta: MetaSchema, name: string, isCustom = false): Schema {
    const description = describeField(meta === 'ListMeta' ? 'List' : '', name);
    const ref = this.meta(meta);
    if (this.dialect === 'v2') return { description, ...ref };
    return { description, ...(!isCustom && { default: {} }), allOf: [ref] };
  }

  /** `io.k8s.apimachinery.pkg.api.resource.Quantity` */
  private valueName(value: ValueName): string {
    const [packageName, name] = valueNames[value];
    return `${this.root}.${packageName}.${name}`;
  }

  /** `rbac.authorization.k8s.io` → `io.k8s.api.rbac`; groups of other domains are their own packages. */
  private packageOf({ group, version }: GroupVersionKind): string {
    const isOwn = !group.includes('.') || group.endsWith(`.${this.dependencies.apiDomain}`);
    if (!isOwn) return `${reversed(group)}.${version}`;
    return `${this.root}.api.${group === '' ? 'core' : group.slice(0, (group + '.').indexOf('.'))}.${version}`;
  }
}

const integers = { int32: 'integer', int64: 'integer' } as const;
const machinery = 'apimachinery.pkg';
const definitions = 'apiextensions-apiserver.pkg.apis.apiextensions.v1';

const valueNames: Readonly<Record<ValueName, readonly [packageName: string, name: string]>> = {
  time: [`${machinery}.apis.meta.v1`, 'Time'],
  microTime: [`${machinery}.apis.meta.v1`, 'MicroTime'],
  duration: [`${machinery}.apis.meta.v1`, 'Duration'],
  fieldsV1: [`${machinery}.apis.meta.v1`, 'FieldsV1'],
  quantity: [`${machinery}.api.resource`, 'Quantity'],
  intOrString: [`${machinery}.util.intstr`, 'IntOrString'],
  rawExtension: [`${machinery}.runtime`, 'RawExtension'],
  json: [definitions, 'JSON'],
  schemaOrBool: [definitions, 'JSONSchemaPropsOrBool'],
  schemaOrArray: [definitions, 'JSONSchemaPropsOrArray'],
  schemaOrStrings: [definitions, 'JSONSchemaPropsOrStringArray'],
};

/** Returns the name of the schema of a custom kind: its group reversed, version and kind. */
function customName({ group, version, kind }: GroupVersionKind): string {
  return `${reversed(group)}.${version}.${kind}`;
}

function selectableFieldsOf({ selectableFields }: ResourceDefinition): Schema {
  const fields = Object.keys(selectableFields).map((fieldPath) => ({ fieldPath }));
  return fields.length > 0 ? { 'x-kubernetes-selectable-fields': fields } : {};
}

/** Copies group, version and kind without further properties. */
export function gvkOf({ group, version, kind }: GroupVersionKind): GroupVersionKind {
  return { group, version, kind };
}

function metaName(name: string): string {
  return `meta.v1.${name}`;
}

function reversed(domain: string): string {
  return domain.split('.').reverse().join('.');
}
