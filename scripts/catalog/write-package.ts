import { valueOf, valuesOf, type GoField, type GoNamed, type GoPackage, type GoStruct } from './go-source.js';

/** A Go package of API types, and its name in the catalog. */
export interface SourcePackage {
  /** `core.v1` */
  readonly short: string;
  /** `k8s.io/api/core/v1` */
  readonly path: string;
  readonly go: GoPackage;
}

/** Go types that JSON encodes as one value. */
const valueTypes: Readonly<Record<string, string>> = {
  'k8s.io/apimachinery/pkg/apis/meta/v1.Time': 'time',
  'k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime': 'microTime',
  'k8s.io/apimachinery/pkg/apis/meta/v1.Duration': 'duration',
  'k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1': 'fieldsV1',
  'k8s.io/apimachinery/pkg/api/resource.Quantity': 'quantity',
  'k8s.io/apimachinery/pkg/util/intstr.IntOrString': 'intOrString',
  'k8s.io/apimachinery/pkg/runtime.RawExtension': 'rawExtension',
  ...Object.fromEntries(
    ['v1', 'v1beta1'].flatMap((version) =>
      Object.entries({
        JSON: 'json',
        JSONSchemaPropsOrBool: 'schemaOrBool',
        JSONSchemaPropsOrArray: 'schemaOrArray',
        JSONSchemaPropsOrStringArray: 'schemaOrStrings',
      }).map(([name, value]) => [`k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/${version}.${name}`, value]),
    ),
  ),
};
const scalars: Readonly<Record<string, string>> = {
  string: 'string',
  bool: 'bool',
  int32: 'int32',
  int64: 'int64',
  int: 'int64',
  uint32: 'int64',
  float64: 'float64',
  '[]byte': 'bytes',
};
/** Markers for other tools, and facts that are written elsewhere. */
const shownOtherwise =
  /^(optional|required|default|enum|list(Type|MapKey)|mapType|structType|patch(Strategy|MergeKey)|featureGate|union|unionDiscriminator|nullable|protobuf|genclient|kubebuilder|k8s:(deepcopy|openapi|prerelease|conversion)|zeroOrOneOf|oneOf|resourceName)/;

/**
 * Writes the types of one package in the format of src/catalog/catalog-text.ts. Sorted, or in the order of the source,
 * so that the same sources give the same text.
 */
export class PackageWriter {
  constructor(
    private readonly source: SourcePackage,
    private readonly packages: ReadonlyMap<string, SourcePackage>,
    /** Names of list types that are a message in protobuf. */
    private readonly listMessages: ReadonlySet<string>,
  ) {}

  text(): string {
    const { structs, named } = this.source.go;
    const isValue = (name: string) => valueTypes[`${this.source.path}.${name}`] !== undefined;
    const blocks = [
      ...[...named.values()].filter(({ name }) => !isValue(name)).map((type) => [type.name, this.named(type)] as const),
      ...[...structs.values()]
        .filter(({ name }) => !isValue(name))
        .map((type) => [type.name, this.struct(type)] as const),
    ];
    return blocks
      .filter((block): block is [string, string] => block[1] !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, block]) => block)
      .join('\n');
  }

  private named({ name, type, markers, isAlias }: GoNamed): string | undefined {
    const written = this.type(type);
    if (written === undefined) return undefined;
    const values = this.valuesOf(name);
    const isEnum = markers.includes('enum') && values.length > 0;
    const marks = [
      ...(isAlias ? ['same'] : []),
      ...(this.listMessages.has(`${this.source.short}.${name}`) ? ['message'] : []),
      ...(isEnum ? ['enum', ...[...values].sort().map(word)] : []),
    ];
    return [`${name} = ${written}`, ...marks].join(' ');
  }

  private valuesOf(type: string): string[] {
    const { constants, borrowed, imports } = this.source.go;
    const others = borrowed
      .filter((constant) => constant.type === type)
      .map(({ qualifier, name }) => this.packages.get(imports.get(qualifier) ?? '')?.go.values.get(name));
    return [...(constants.get(type) ?? []), ...others.filter((value) => value !== undefined)];
  }

  private struct({ name, fields, markers }: GoStruct): string | undefined {
    const lines = fields.flatMap((field) => this.field(name, field));
    const marks = [...(structure(markers, 'structType') ?? []), ...(markers.includes('union') ? ['union'] : [])];
    return [[`${name} {`, ...marks].join(' '), ...lines].join('\n');
  }

  private field(struct: string, field: GoField): string[] {
    const { tags, markers, goName } = field;
    const isExported = goName === '' || /^[A-Z]/.test(goName);
    if (tags['json'] === undefined || tags['json'] === '-' || !isExported) return [];
    const [jsonName = '', ...options] = tags['json'].split(',');
    const isPointer = field.type.startsWith('*');
    const type = this.type(isPointer ? field.type.slice(1) : field.type);
    if (type === undefined) throw new Error(`${this.source.short}.${struct}.${goName}: unknown type ${field.type}`);
    const isInline = options.includes('inline') || (goName === '' && jsonName === '');
    const number = /^\w+,(\d+)/.exec(tags['protobuf'] ?? '')?.[1] ?? '0';
    const marker = (name: string) => valueOf(markers, name);
    const keys = valuesOf(markers, 'listMapKey');
    const list = marker('listType');
    const strategy = tags['patchStrategy'];
    const mergeKey = tags['patchMergeKey'];
    const given = marker('default');
    const omits = options.includes('omitempty') || options.includes('omitzero');
    const words = [
      isInline ? '...' : jsonName,
      `${isPointer ? '*' : ''}${type}`,
      number,
      ...(omits ? ['?'] : []),
      ...(has(markers, 'optional') || has(markers, 'k8s:optional') ? ['optional'] : []),
      ...(has(markers, 'required') || has(markers, 'k8s:required') ? ['required'] : []),
      ...(has(markers, 'nullable') ? ['nullable'] : []),
      ...(given === undefined ? [] : [`default=${this.defaultValue(given)}`]),
      ...(list === undefined ? [] : [`list=${[list, ...keys].join(',')}`]),
      ...(structure(markers, 'mapType') ?? structure(markers, 'structType') ?? []),
      ...(strategy === undefined ? [] : [`patch=${strategy}`]),
      ...(mergeKey === undefined ? [] : [`key=${mergeKey}`]),
      ...(has(markers, 'unionDiscriminator') ? ['discriminator'] : []),
      ...each(markers, 'featureGate', 'gates'),
      ...each(markers, 'zeroOrOneOf', 'zeroOrOneOf'),
      ...each(markers, 'oneOf', 'oneOf'),
    ];
    const rules = markers.filter((text) => text.startsWith('k8s:') && !shownOtherwise.test(text));
    return [` ${words.join(' ')}`, ...rules.map((rule) => `  ${rule.slice('k8s:'.length)}`)];
  }

  /** The catalog's notation of a Go type; undefined for types without data (interfaces, functions). */
  private type(go: string): string | undefined {
    if (go === 'interface{}') return 'json';
    const scalar = scalars[go];
    if (scalar !== undefined) return scalar;
    if (go.startsWith('*')) return this.type(go.slice(1));
    if (go.startsWith('[]')) return prefixed('[]', this.type(go.slice(2)));
    const map = /^map\[([\w.]+)\](.+)$/.exec(go);
    if (map) {
      const of = this.type(map[2]!);
      return of === undefined ? undefined : `{${map[1] === 'string' ? '' : this.type(map[1]!)}}${of}`;
    }
    const [, qualifier, name] = /^(?:(\w+)\.)?(\w+)$/.exec(go) ?? [];
    if (name === undefined) return undefined;
    const path = qualifier === undefined ? this.source.path : this.source.go.imports.get(qualifier);
    const value = valueTypes[`${path}.${name}`];
    if (value !== undefined) return value;
    if (path === this.source.path) return this.knows(this.source, name) ? name : undefined;
    const other = path === undefined ? undefined : this.packages.get(path);
    return other && this.knows(other, name) ? `${other.short}.${name}` : undefined;
  }

  private knows({ go }: SourcePackage, name: string): boolean {
    return go.structs.has(name) || go.named.has(name);
  }

  private defaultValue(text: string): string {
    const name = /^ref\((\w+)\)$/.exec(text)?.[1];
    if (name === undefined) return text.replaceAll(' ', '\\u0020');
    const value = this.source.go.values.get(name);
    if (value === undefined) throw new Error(`${name} has no value`);
    return JSON.stringify(value);
  }
}

function prefixed(prefix: string, type: string | undefined): string | undefined {
  return type === undefined ? undefined : prefix + type;
}

const has = (markers: readonly string[], name: string) => markers.includes(name);

function each(markers: readonly string[], name: string, word: string): string[] {
  const values = valuesOf(markers, name);
  return values.length === 0 ? [] : [`${word}=${values.join(',')}`];
}

function structure(markers: readonly string[], name: string): string[] | undefined {
  const value = valueOf(markers, name);
  return value === undefined ? undefined : [value];
}

/** Quotes values with spaces. */
function word(text: string): string {
  return /^[^\s"]+$/.test(text) ? text : JSON.stringify(text);
}
