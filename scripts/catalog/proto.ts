/** A field of a message in a .proto file. */
interface ProtoField {
  readonly number: number;
  readonly name: string;
  /** A scalar's name, or the full name of a message. */
  readonly type: string;
  readonly shape: 'one' | 'list' | 'map';
}

const scalars = new Set(['string', 'bytes', 'bool', 'int32', 'int64', 'uint32', 'uint64', 'double']);

/** Messages by full name. The files are generated: one field per line, no nested messages. */
export function parseProto(text: string): Map<string, ProtoField[]> {
  const source = text.replace(/\/\/.*$/gm, '').replace(/\/\*[^]*?\*\//g, '');
  const ownPackage = /^package ([\w.]+);/m.exec(source)![1]!;
  const messages = new Map<string, ProtoField[]>();
  const full = (type: string) =>
    scalars.has(type)
      ? type
      : type.startsWith('.')
        ? type.slice(1)
        : type.includes('.')
          ? type
          : `${ownPackage}.${type}`;
  for (const [, name, body] of source.matchAll(/^message (\w+) \{\n([^]*?)^\}/gm)) {
    const fields: ProtoField[] = [];
    for (const line of body!.split('\n').filter((text) => text.trim() !== '')) {
      const map = /^\s*map<string, ([\w.]+)> (\w+) = (\d+);$/.exec(line);
      const plain = /^\s*(optional|repeated) ([\w.]+) (\w+) = (\d+);$/.exec(line);
      if (map) fields.push({ number: Number(map[3]), name: map[2]!, type: full(map[1]!), shape: 'map' });
      else if (plain) {
        const shape = plain[1] === 'repeated' ? 'list' : 'one';
        fields.push({ number: Number(plain[4]), name: plain[3]!, type: full(plain[2]!), shape });
      } else throw new Error(`${ownPackage}.${name}: cannot read "${line.trim()}"`);
    }
    messages.set(
      `${ownPackage}.${name}`,
      fields.sort((a, b) => a.number - b.number),
    );
  }
  return messages;
}
