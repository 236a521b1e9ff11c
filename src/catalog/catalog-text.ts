/**
 * Format of the catalog, one fact per line:
 *
 *   ServicePort {                                a struct, followed by its indented fields:
 *    protocol Protocol 2 ? optional default="TCP"      JSON name, type, protobuf field number, marks
 *     alpha(since: "1.36")=+k8s:required                a rule of declarative validation of the field above
 *    ... LocalObjectReference 1                        an inlined struct
 *   Protocol = string enum SCTP TCP UDP          a named type; `same` for an alias
 *
 * Types: `[]X` a list, `{}X` a map (`{Key}X` with keys of a named string type), `*X` a pointer, `core.v1.X` of another
 * package. `?` is omitempty.
 */
export interface StructText {
  readonly name: string;
  readonly marks: readonly string[];
  readonly fields: readonly FieldText[];
}

export interface FieldText {
  readonly name: string;
  readonly type: string;
  readonly number: number;
  readonly marks: readonly string[];
  readonly rules: readonly string[];
}

export interface NamedText {
  readonly name: string;
  readonly type: string;
  readonly isSame: boolean;
  /** True for a list that protobuf wraps in a message. */
  readonly isMessage: boolean;
  readonly enumValues: readonly string[] | undefined;
}

/** Splits the text into the lines of each type, keyed by type name. Lines are parsed when the type is needed. */
export function blocksOf(text: string): Map<string, string> {
  const blocks = new Map<string, string>();
  for (const [block, name] of text.matchAll(/^(\w+) .*(?:\n .*)*/gm)) blocks.set(name!, block);
  return blocks;
}

export function isStruct(block: string): boolean {
  return block.startsWith(' {', block.indexOf(' '));
}

export function structOf(block: string): StructText {
  const [head = '', ...lines] = block.split('\n');
  const [name = '', , ...marks] = head.split(' ');
  const fields: { name: string; type: string; number: number; marks: string[]; rules: string[] }[] = [];
  for (const line of lines) {
    if (line.startsWith('  ')) {
      fields.at(-1)!.rules.push(line.slice(2));
      continue;
    }
    const [field = '', type = '', number = '', ...rest] = line.slice(1).split(' ');
    fields.push({ name: field, type, number: Number(number), marks: rest, rules: [] });
  }
  return { name, marks, fields };
}

export function namedOf(block: string): NamedText {
  const [name = '', , type = '', ...words] = block.match(/"[^"]*"|\S+/g) ?? [];
  const at = words.indexOf('enum');
  const marks = at < 0 ? words : words.slice(0, at);
  return {
    name,
    type,
    isSame: marks.includes('same'),
    isMessage: marks.includes('message'),
    enumValues: at < 0 ? undefined : words.slice(at + 1).map((word) => word.replaceAll('"', '')),
  };
}

/** The value of a mark: `default="TCP"` → `"TCP"`. */
export function markOf(marks: readonly string[], name: string): string | undefined {
  for (const mark of marks) {
    if (mark.startsWith(name) && mark[name.length] === '=') return mark.slice(name.length + 1);
  }
  return undefined;
}
