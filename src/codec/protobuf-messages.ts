import type { FieldType, ScalarType, StructType, ValueName } from '../machinery/type-model.js';
import { wireTypes } from '../std/protobuf-reader.js';

/** Wire content of one value of a field. */
export type Content = ScalarType['scalar'] | ValueName | 'message' | 'listMessage';

export interface MessageField {
  /** JSON name. Unused if the field is inlined. */
  readonly name: string;
  readonly number: number;
  /** Inlined fields are a message on the wire, with their content in the parent object in JSON. */
  readonly shape: 'one' | 'list' | 'map' | 'inline';
  readonly content: Content;
  /** Wire type of one value, also inside packed lists and map entries. */
  readonly wireType: number;
  /** Tag of one value or entry: field number and wire type. */
  readonly tag: number;
  /** True for a single string, the most common kind of field. */
  readonly isText: boolean;
  /** True for metadata.managedFields, whose values have a budget of their own. */
  readonly isManagedFields: boolean;
  /** Message of values that are messages, and of the schema in JSONSchemaPropsOrBool and the like. */
  readonly message: Message | undefined;
  /** Items of a list that is wrapped in a message. */
  readonly items: MessageField | undefined;
  /** A pointer's zero is meant. Other zeros mean absent, and are written all the same, as Go does. */
  readonly isPointer: boolean;
  /** True if JSON omits a zero. */
  readonly omitsZero: boolean;
}

export interface Message {
  readonly struct: StructType;
  /** Indexed by field number, with holes. */
  readonly byNumber: readonly (MessageField | undefined)[];
  /** Sorted by descending field number, for encoding. */
  readonly descending: readonly MessageField[];
  /** Index in `descending` of a JSON name, including names inside inlined fields. */
  readonly positions: ReadonlyMap<string, number>;
  /** Bytes for absent fields; the encoder computes them on first use. */
  absences: Absences | undefined;
}

export interface Absences {
  /** Zeros of all fields, in order. */
  readonly bytes: Buffer;
  /** Offset in `bytes` of each field in `descending`, and one more for the end. */
  readonly starts: readonly number[];
}

/** The messages of struct types, computed on first use. */
const messages = new WeakMap<StructType, Message>();

export function messageOf(struct: StructType): Message {
  const known = messages.get(struct);
  if (known) return known;
  const byNumber: (MessageField | undefined)[] = [];
  const descending: MessageField[] = [];
  const positions = new Map<string, number>();
  const message: Message = { struct, byNumber, descending, positions, absences: undefined };
  // Set before the fields are computed: structs may contain themselves.
  messages.set(struct, message);
  for (const { number, name, type, isInline, isPointer, omitsEmpty } of struct.fields) {
    if (number === 0) continue;
    const shape = isInline ? 'inline' : shapeOf(type);
    const field = fieldOf({ name, number, shape, isPointer, omitsZero: omitsEmpty && !isPointer }, type, message);
    byNumber[number] = field;
    descending.push(field);
  }
  descending.sort((a, b) => b.number - a.number);
  descending.forEach(({ shape, name, message: inner }, position) => {
    const names = shape === 'inline' ? inner!.positions.keys() : [name];
    for (const each of names) positions.set(each, position);
  });
  return message;
}

type Facts = Pick<MessageField, 'name' | 'number' | 'shape' | 'isPointer' | 'omitsZero'>;

function fieldOf(facts: Facts, type: FieldType, within: Message): MessageField {
  const one = facts.shape === 'list' || facts.shape === 'map' ? (type as { readonly of: FieldType }).of : type;
  const content = contentOf(one);
  const items = content === 'listMessage' ? listItems(one as { readonly of: FieldType }, within) : undefined;
  const wireType = wireTypeOf(content);
  return {
    ...facts,
    content,
    isText: facts.shape === 'one' && content === 'string',
    isManagedFields: facts.shape === 'list' && facts.name === 'managedFields',
    wireType,
    tag: facts.number * 8 + (facts.shape === 'map' ? wireTypes.bytes : wireType),
    message: one.form === 'struct' ? messageOf(one) : content.startsWith('schemaOr') ? within : undefined,
    items,
  };
}

function listItems({ of }: { readonly of: FieldType }, within: Message): MessageField {
  const facts = { name: 'items', number: 1, shape: 'list', isPointer: false, omitsZero: true } as const;
  return fieldOf(facts, { form: 'list', of, goName: '', isMessage: false }, within);
}

function shapeOf(type: FieldType): 'one' | 'list' | 'map' {
  if (type.form === 'map') return 'map';
  return type.form === 'list' && !type.isMessage ? 'list' : 'one';
}

function contentOf(type: FieldType): Content {
  switch (type.form) {
    case 'scalar':
      return type.scalar;
    case 'value':
      return type.value;
    case 'struct':
      return 'message';
    case 'list':
      return 'listMessage';
    case 'map':
      throw new Error(`protobuf has no field for a ${type.goName} among others`);
  }
}

function wireTypeOf(content: Content): number {
  if (content === 'bool' || content === 'int32' || content === 'int64') return wireTypes.varint;
  return content === 'float64' ? wireTypes.fixed64 : wireTypes.bytes;
}
