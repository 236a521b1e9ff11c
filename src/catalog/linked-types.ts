import { assert } from '../std/assert.js';
import type { JsonValue } from '../machinery/kube-object.js';
import type { Field, FieldType, ScalarType, StructType, ValueName, ValueType } from '../machinery/type-model.js';
import { markOf, type FieldText, type NamedText, type StructText } from './catalog-text.js';

export interface TypeLinks {
  /** Resolves a type name in package `from`, unless the name has a package. */
  resolve(name: string, from: string): FieldType;
}

export interface StructBody {
  readonly text: StructText;
  /** The package in which type names are resolved. */
  readonly from: string;
}

/** A struct whose lines are parsed on first access. */
export class LazyStruct implements StructType {
  readonly form = 'struct';
  readonly name: string;
  readonly goName: string;
  readonly modelName: string;
  private read: { readonly text: StructText; readonly fields: readonly Field[] } | undefined = undefined;
  private names: ReadonlyMap<string, Field> | undefined = undefined;

  constructor(
    names: { readonly name: string; readonly goName: string; readonly modelName: string },
    private readonly load: () => StructBody,
    private readonly links: TypeLinks,
  ) {
    this.name = names.name;
    this.goName = names.goName;
    this.modelName = names.modelName;
  }

  get fields(): readonly Field[] {
    return this.loaded().fields;
  }

  get byName(): ReadonlyMap<string, Field> {
    if (!this.names) {
      const names = new Map<string, Field>();
      for (const field of this.fields) {
        if (!field.isInline) names.set(field.name, field);
        else if (field.type.form === 'struct') for (const [name, inner] of field.type.byName) names.set(name, inner);
      }
      this.names = names;
    }
    return this.names;
  }

  get isAtomic(): boolean {
    return this.loaded().text.marks.includes('atomic');
  }

  get unions(): StructType['unions'] {
    const { text } = this.loaded();
    if (!text.marks.includes('union')) return [];
    const discriminator = text.fields.find(({ marks }) => marks.includes('discriminator'))?.name;
    const members = text.fields.map(({ name }) => name).filter((name) => name !== discriminator);
    return [{ discriminator, members }];
  }

  private loaded() {
    if (!this.read) {
      const { text, from } = this.load();
      this.read = { text, fields: text.fields.map((field) => linkedField(field, from, this.links)) };
    }
    return this.read;
  }
}

function linkedField(text: FieldText, from: string, links: TypeLinks): Field {
  const { name, number, marks, rules } = text;
  const isPointer = text.type.startsWith('*');
  const isInline = name === '...';
  const list = markOf(marks, 'list');
  const [listType, ...keys] = list?.split(',') ?? [];
  const strategies = markOf(marks, 'patch');
  const given = markOf(marks, 'default');
  return {
    name: isInline ? '' : name,
    type: typeOf(isPointer ? text.type.slice(1) : text.type, from, links),
    isInline,
    isPointer,
    omitsEmpty: marks.includes('?'),
    presence: marks.includes('optional') ? 'optional' : marks.includes('required') ? 'required' : undefined,
    default: given === undefined ? undefined : valueOf(given),
    list: listType === undefined ? undefined : { type: listType as 'atomic' | 'set' | 'map', keys },
    isAtomic: marks.includes('atomic'),
    isGranular: marks.includes('granular'),
    patch:
      strategies === undefined && markOf(marks, 'key') === undefined
        ? undefined
        : { strategies: strategies?.split(',') ?? [], mergeKey: markOf(marks, 'key') },
    number,
    gates: markOf(marks, 'gates')?.split(',') ?? [],
    rules,
  };
}

const scalars: ReadonlyMap<string, ScalarType> = new Map(
  (['string', 'bytes', 'bool', 'int32', 'int64', 'float64'] as const).map((scalar) => [
    scalar,
    { form: 'scalar', scalar, goName: scalar === 'bytes' ? '[]uint8' : scalar, enumValues: undefined },
  ]),
);
const values: ReadonlyMap<string, ValueType> = new Map(
  (
    [
      ['time', 'v1.Time'],
      ['microTime', 'v1.MicroTime'],
      ['duration', 'v1.Duration'],
      ['quantity', 'resource.Quantity'],
      ['intOrString', 'intstr.IntOrString'],
      ['fieldsV1', 'v1.FieldsV1'],
      ['rawExtension', 'runtime.RawExtension'],
      ['json', 'v1.JSON'],
      ['schemaOrBool', 'v1.JSONSchemaPropsOrBool'],
      ['schemaOrArray', 'v1.JSONSchemaPropsOrArray'],
      ['schemaOrStrings', 'v1.JSONSchemaPropsOrStringArray'],
    ] as const satisfies readonly (readonly [ValueName, string])[]
  ).map(([value, goName]) => [value, { form: 'value', value, goName }]),
);

function typeOf(text: string, from: string, links: TypeLinks): FieldType {
  if (text.startsWith('*')) return typeOf(text.slice(1), from, links);
  if (text.startsWith('[]')) {
    const of = typeOf(text.slice(2), from, links);
    return { form: 'list', of, goName: `[]${of.goName}`, isMessage: false };
  }
  if (text.startsWith('{')) {
    const end = text.indexOf('}');
    const key = text.slice(1, end);
    const of = typeOf(text.slice(end + 1), from, links);
    const keyName = key === '' ? 'string' : links.resolve(key, from).goName;
    return { form: 'map', of, goName: `map[${keyName}]${of.goName}` };
  }
  return scalars.get(text) ?? values.get(text) ?? links.resolve(text, from);
}

/** `Protocol = string enum …`: returns the underlying type, under its own name. */
export function namedType(text: NamedText, short: string, links: TypeLinks): FieldType {
  const under = typeOf(text.type, short, links);
  if (text.isSame || under.form === 'struct') return under;
  const goName = `${short.slice(short.lastIndexOf('.') + 1)}.${text.name}`;
  if (under.form === 'scalar') return { ...under, goName, enumValues: text.enumValues ?? under.enumValues };
  if (under.form === 'list') return { ...under, goName, isMessage: text.isMessage };
  return { ...under, goName };
}

function valueOf(text: string): JsonValue {
  if (text === 'true' || text === 'false') return text === 'true';
  if (text.startsWith('"') && text.endsWith('"')) return text.slice(1, -1);
  const number = Number(text);
  assert(text !== '' && !Number.isNaN(number), `${text} is no default value`);
  return number;
}
