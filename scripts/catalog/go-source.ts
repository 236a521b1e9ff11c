/**
 * Parses the subset of Go that the published API types use: structs, named types, constants, and the markers
 * (`+optional`) in comments above them.
 */
export interface GoField {
  /** '' for an embedded struct. */
  readonly goName: string;
  /** As in the source: `[]v1.Container`, `map[ResourceName]resource.Quantity`, `*int32`. */
  readonly type: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly markers: readonly string[];
}

export interface GoStruct {
  readonly name: string;
  readonly fields: readonly GoField[];
  readonly markers: readonly string[];
}

export interface GoNamed {
  readonly name: string;
  readonly type: string;
  /** `type A = B`: an alias. */
  readonly isAlias: boolean;
  readonly markers: readonly string[];
}

export interface GoPackage {
  readonly structs: ReadonlyMap<string, GoStruct>;
  readonly named: ReadonlyMap<string, GoNamed>;
  /** String constants of a named type, keyed by type. */
  readonly constants: ReadonlyMap<string, readonly string[]>;
  /** Constants defined by one of another package: `IPv4 = Family(core.IPv4)`. */
  readonly borrowed: readonly { readonly type: string; readonly qualifier: string; readonly name: string }[];
  /** All string constants, keyed by name. */
  readonly values: ReadonlyMap<string, string>;
  /** Imports of all files: `v1` → `k8s.io/api/core/v1`. */
  readonly imports: ReadonlyMap<string, string>;
}

/** Matches `TCP Protocol = "TCP"` and `TCP = Protocol("TCP")`, alone or in a block. */
const constant = /^(?:const |\t)\s*(\w+)(?:[ \t]+(\w+))?\s*=\s*(?:(\w+)\()?"([^"\n]*)"/gm;

const borrowedConstant = /^(?:const |\t)\s*\w+\s*=\s*(\w+)\((\w+)\.(\w+)\)/gm;

export function parseGoPackage(files: readonly string[]): GoPackage {
  const structs = new Map<string, GoStruct>();
  const named = new Map<string, GoNamed>();
  const constants = new Map<string, string[]>();
  const borrowed: { type: string; qualifier: string; name: string }[] = [];
  const values = new Map<string, string>();
  const imports = new Map<string, string>();
  for (const text of files) {
    const lines = text.replace(/\r/g, '').split('\n');
    const comments = new Comments();
    for (let at = 0; at < lines.length; at++) {
      const line = lines[at]!;
      if (comments.takes(line)) continue;
      const struct = /^type (\w+) struct ?\{(\})?$/.exec(line);
      const other = /^type (\w+) (= )?([^\s{(]+)( \/\/.*)?$/.exec(line);
      if (struct) {
        const { fields, end } = struct[2] ? { fields: [], end: at } : structFields(lines, at + 1, struct[1]!);
        structs.set(struct[1]!, { name: struct[1]!, fields, markers: comments.markersOfType() });
        at = end;
      } else if (other) {
        const [, name, alias, type] = other;
        named.set(name!, { name: name!, type: type!, isAlias: !!alias, markers: comments.markersOfType() });
      }
      comments.forget();
    }
    for (const [, block] of text.matchAll(/^import \(\n([^]*?)^\)/gm)) {
      for (const [, name, path] of block!.matchAll(/^\t(?:(\w+) )?"([^"]+)"/gm)) {
        imports.set(name ?? path!.slice(path!.lastIndexOf('/') + 1), path!);
      }
    }
    const source = text.replace(/\/\*[^]*?\*\//g, '');
    for (const [, type, qualifier, name] of source.matchAll(borrowedConstant)) {
      borrowed.push({ type: type!, qualifier: qualifier!, name: name! });
    }
    for (const [, name, declared, converted, value] of source.matchAll(constant)) {
      values.set(name!, value!);
      const type = declared ?? converted;
      if (type === undefined) continue;
      const known = constants.get(type) ?? [];
      if (!known.includes(value!)) constants.set(type, [...known, value!]);
    }
  }
  return { structs, named, constants, borrowed, values, imports };
}

function structFields(lines: readonly string[], from: number, name: string): { fields: GoField[]; end: number } {
  const fields: GoField[] = [];
  const comments = new Comments();
  for (let at = from; at < lines.length; at++) {
    const line = lines[at]!;
    if (line === '}') return { fields, end: at };
    if (comments.takes(line)) continue;
    const field = /^\s+(?:(\w+)\s+)?([^\s`]+)(?:\s+`([^`]*)`)?\s*(?:\/\/.*)?$/.exec(line);
    if (!field) throw new Error(`${name}: "${line.trim()}" is not a field`);
    const [, goName = '', type, tags = ''] = field;
    fields.push({
      goName,
      type: type!,
      tags: Object.fromEntries([...tags.matchAll(/(\w+):"([^"]*)"/g)].map(([, key, value]) => [key!, value!])),
      markers: comments.markers(),
    });
    comments.forget();
  }
  throw new Error(`${name} has no closing brace`);
}

/** The comment above a line, and for types also the one before it, after a blank line. */
class Comments {
  private nearest: string[] = [];
  private before: string[] = [];
  private inBlock = false;
  private gap = false;

  takes(line: string): boolean {
    if (this.inBlock) {
      if (line.includes('*/')) this.inBlock = false;
      return true;
    }
    const text = line.trim();
    if (text === '') {
      this.gap = true;
      return true;
    }
    if (text.startsWith('/*')) {
      this.inBlock = !text.includes('*/');
      return true;
    }
    if (!text.startsWith('//')) {
      if (this.gap) this.shift();
      return false;
    }
    if (this.gap) this.shift();
    this.nearest.push(text.slice(2).trim());
    return true;
  }

  markers(): string[] {
    return onlyMarkers(this.nearest);
  }

  markersOfType(): string[] {
    return onlyMarkers([...this.before, ...this.nearest]);
  }

  forget(): void {
    this.nearest = [];
    this.before = [];
    this.gap = false;
  }

  private shift(): void {
    this.before = this.nearest;
    this.nearest = [];
    this.gap = false;
  }
}

/** The markers without their plus sign and without a comment after them (` # why`). */
function onlyMarkers(lines: readonly string[]): string[] {
  return lines.filter((line) => line.startsWith('+')).map((line) => line.slice(1).replace(/ #.*$/, '').trim());
}

/** The values of all markers `name=value`. */
export function valuesOf(markers: readonly string[], name: string): string[] {
  return markers.filter((text) => text.startsWith(`${name}=`)).map((text) => text.slice(name.length + 1));
}

export function valueOf(markers: readonly string[], name: string): string | undefined {
  return valuesOf(markers, name)[0];
}
