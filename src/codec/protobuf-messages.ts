import type { FieldType, ScalarType, StructType, ValueName } from '../machinery/type-model.js';
import { wireTypes } from './protobuf-reader.js';

/** What one value of a field is. */
export type Content = ScalarType['scalar'] | ValueName | 'message' | 'listMessage';

export interface MessageField {
  /** In JSON. Unused when the field is inlined. */
  readonly name: string;
  readonly number: number;
  /** Inlined fields are a message on the wire, and their content stands in the parent's place in JSON. */
  readonly shape: 'one' | 'list' | 'map' | 'inline';
  readonly content: Content;
  /** Of one value, also where it is packed with others or the value of a map's entry. */
  readonly wireType: number;
  /** How one value or entry begins: the number and what follows it. */
  readonly tag: number;
  /** One string, as most fields are. */
  readonly isText: boolean;
  /** metadata.managedFields, of which values are counted apart. */
  readonly isManagedFields: boolean;
  /** Of values that are messages, and of the schemas in what may be a schema. */
  readonly message: Message | undefined;
  /** Of values that are a list in a message of its own. */
  readonly items: MessageField | undefined;
  /** A zero was meant. Without it a zero says nothing, and is written all the same, as Go does. */
  readonly isPointer: boolean;
  /** A zero is left out of JSON, which takes it for nothing. */
  readonly omitsZero: boolean;
}

export interface Message {
  readonly struct: StructType;
  /** By number, with holes. */
  readonly byNumber: readonly (MessageField | undefined)[];
  /** The last first, for writing. */
  readonly descending: readonly MessageField[];
  /** Where the field of a JSON name is in `descending`, be it within an inlined one. */
  readonly positions: ReadonlyMap<string, number>;
  /** What is written where fields are not there; the encoder fills it in when it is first needed. */
  absences: Absences | undefined;
}

export interface Absences {
  /** Of all fields, as they follow each other. */
  readonly bytes: Buffer;
  /** Where that of the field in `descending` begins; one more for the end, which is the start of the bytes. */
  readonly starts: readonly number[];
}

/** A struct's fields as protobuf numbers them, made when the struct is first asked for. */
const messages = new WeakMap<StructType, Message>();

export function messageOf(struct: StructType): Message {
  const known = messages.get(struct);
  if (known) return known;
  const byNumber: (MessageField | undefined)[] = [];
  const descending: MessageField[] = [];
  const positions = new Map<string, number>();
  const message: Message = { struct, byNumber, descending, positions, absences: undefined };
  // Before its fields: a struct may hold itself.
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
