import type { Field, FieldType, StructType, TypeSource, ValueName } from '../machinery/type-model.js';

/** The generated facts, one line a message: `1 name !string, 2 labels {}string, 3 spec *core.v1.PodSpec`. */
export interface ProtobufData {
  readonly kinds: readonly {
    /** Where its messages are: `core.v1` for `core.v1.Pod`. */
    readonly prefix: string;
    /** The first part of a group whose domain is configured, '' for the core group. */
    readonly group: string;
    readonly version: string;
    readonly kinds: string;
  }[];
  readonly messages: Readonly<Record<string, string>>;
}

const scalars = ['string', 'bytes', 'bool', 'int32', 'int64', 'float64'] as const;
const values: Readonly<Record<string, ValueName>> = {
  time: 'time',
  microTime: 'microTime',
  rawJson: 'json',
  quantity: 'quantity',
  intOrString: 'intOrString',
};

/** The facts in the words of the type model. */
export class ProtobufSchema implements TypeSource {
  private readonly structs = new Map<string, StructType>();
  private readonly kinds = new Map<string, string>();

  /** `groupOf` completes the first part of a group: `coordination` → `coordination.k8s.io`. */
  constructor(
    private readonly data: ProtobufData,
    groupOf: (stem: string) => string,
  ) {
    for (const { prefix, group, version, kinds } of data.kinds) {
      for (const kind of kinds.split(' ')) {
        this.kinds.set(`${group === '' ? '' : groupOf(group)}/${version}/${kind}`, `${prefix}.${kind}`);
      }
    }
  }

  kind(group: string, version: string, kind: string): StructType | undefined {
    const name = this.kinds.get(`${group}/${version}/${kind}`);
    return name === undefined ? undefined : this.struct(name);
  }

  struct(name: string): StructType {
    const known = this.structs.get(name);
    if (known) return known;
    const text = this.data.messages[name];
    if (text === undefined) throw new Error(`no message is called ${name}`);
    const fields: Field[] = [];
    const byName = new Map<string, Field>();
    const names = { name, goName: name, modelName: name };
    const struct: StructType = { form: 'struct', ...names, fields, byName, isAtomic: false, unions: [] };
    // Before its fields: a message may hold itself.
    this.structs.set(name, struct);
    for (const part of text === '' ? [] : text.split(', ')) fields.push(this.field(part));
    return struct;
  }

  private field(text: string): Field {
    const parts = /^(\d+) (?:(\w+) )?(\.\.\.|\[\]|\{\}|\*|!)?([\w.]+)$/.exec(text);
    if (!parts) throw new Error(`"${text}" describes no field`);
    const [, number, name = '', mark, type] = parts as unknown as [string, string, string?, string?, string?];
    const of = this.type(type!);
    return {
      name,
      type:
        mark === '[]'
          ? { form: 'list', of, goName: '', isMessage: false }
          : mark === '{}'
            ? { form: 'map', of, goName: '' }
            : of,
      isInline: mark === '...',
      isPointer: mark === '*',
      omitsEmpty: mark !== '!',
      presence: undefined,
      default: undefined,
      list: undefined,
      isAtomic: false,
      isGranular: false,
      patch: undefined,
      number: Number(number),
      gates: [],
      rules: [],
    };
  }

  private type(name: string): FieldType {
    const scalar = scalars.find((known) => known === name);
    if (scalar) return { form: 'scalar', scalar, goName: name, enumValues: undefined };
    const value = values[name];
    return value ? { form: 'value', value, goName: name } : this.struct(name);
  }
}
