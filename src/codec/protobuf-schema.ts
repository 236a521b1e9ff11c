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

export const scalarTypes = ['string', 'bytes', 'bool', 'int32', 'int64'] as const;
/** Messages that are one value in JSON. */
export const valueTypes = ['time', 'microTime', 'rawJson', 'quantity', 'intOrString'] as const;
export type SimpleType = (typeof scalarTypes)[number] | (typeof valueTypes)[number];

export interface Field {
  readonly number: number;
  /** In JSON. Unused when the field is inlined. */
  readonly name: string;
  /** Inlined fields are a message on the wire, and their content stands in the parent's place in JSON. */
  readonly shape: 'one' | 'list' | 'map' | 'inline';
  readonly type: SimpleType | Message;
  /**
   * When a zero is worth a field in JSON, and an absent field worth bytes:
   * - pointer `*`: a zero was meant, absent is absent;
   * - required `!`: always there in JSON, always written;
   * - otherwise: a zero says nothing, and is written all the same, as Go does.
   */
  readonly presence: 'pointer' | 'required' | 'plain';
}

export interface Message {
  readonly name: string;
  /** By number, with holes. */
  readonly byNumber: readonly (Field | undefined)[];
  /** In the order in which they are written. */
  readonly fields: readonly Field[];
}

const simpleTypes: ReadonlySet<string> = new Set([...scalarTypes, ...valueTypes]);

/** The messages of kinds, each compiled when it is first asked for. */
export class ProtobufSchema {
  private readonly messages = new Map<string, Message>();
  private readonly kinds = new Map<string, string>();
  /** What every group has: DeleteOptions, Status, … */
  private readonly commonKinds = new Map<string, string>();

  /** `groupOf` completes the first part of a group: `coordination` → `coordination.k8s.io`. */
  constructor(
    private readonly data: ProtobufData,
    groupOf: (stem: string) => string,
  ) {
    for (const { prefix, group, version, kinds } of data.kinds) {
      for (const kind of kinds.split(' ')) {
        this.kinds.set(`${group === '' ? '' : `${groupOf(group)}/`}${version} ${kind}`, `${prefix}.${kind}`);
        if (group === 'meta') this.commonKinds.set(kind, `${prefix}.${kind}`);
      }
    }
  }

  messageOf(apiVersion: string, kind: string): Message | undefined {
    const name = this.kinds.get(`${apiVersion} ${kind}`) ?? this.commonKinds.get(kind);
    return name === undefined ? undefined : this.message(name);
  }

  private message(name: string): Message {
    const known = this.messages.get(name);
    if (known) return known;
    const byNumber: (Field | undefined)[] = [];
    const fields: Field[] = [];
    const message: Message = { name, byNumber, fields };
    // Before its fields: a message may hold itself.
    this.messages.set(name, message);
    const text = this.data.messages[name];
    if (text === undefined) throw new Error(`no message is called ${name}`);
    for (const part of text === '' ? [] : text.split(', ')) {
      const field = this.field(part);
      byNumber[field.number] = field;
      fields.push(field);
    }
    return message;
  }

  private field(text: string): Field {
    const parts = /^(\d+) (?:(\w+) )?(\.\.\.|\[\]|\{\}|\*|!)?([\w.]+)$/.exec(text);
    if (!parts) throw new Error(`"${text}" describes no field`);
    const [, number, name = '', mark, type] = parts as unknown as [string, string, string?, string?, string?];
    return {
      number: Number(number),
      name,
      shape: mark === '...' ? 'inline' : mark === '[]' ? 'list' : mark === '{}' ? 'map' : 'one',
      presence: mark === '*' ? 'pointer' : mark === '!' ? 'required' : 'plain',
      type: simpleTypes.has(type!) ? (type as SimpleType) : this.message(type!),
    };
  }
}
