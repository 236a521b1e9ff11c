import type { NamingProfile } from '../config/naming-profile.js';
import { assert } from '../std/assert.js';
import type { FieldType, StructType, TypeSource } from '../machinery/type-model.js';
import { aggregationKinds, aggregationPackage } from './aggregation.js';
import { blocksOf, isStruct, namedOf, structOf } from './catalog-text.js';
import { kinds } from './data/kinds.js';
import { packages } from './data/packages.js';
import { kindTable, type KindFacts } from './kind-facts.js';
import { LazyStruct, namedType, type StructBody, type TypeLinks } from './linked-types.js';

/** The text of each package by its short name: `core.v1`. */
type CatalogTexts = Readonly<Record<string, { readonly path: string; readonly text: string }>>;

const builtInTexts: CatalogTexts = { ...packages, ...aggregationPackage };

const catalogs = new WeakMap<NamingProfile, Catalog>();

/** Returns the catalog of all servers with these names of groups. */
export function catalogOf(naming: NamingProfile): Catalog {
  let catalog = catalogs.get(naming);
  if (!catalog) catalogs.set(naming, (catalog = new Catalog(naming)));
  return catalog;
}

/**
 * The facts of all built-in types. Parsed on demand: the table of kinds on the first lookup of a kind, the lines of a
 * package on the first lookup in it, the fields of a struct on first access.
 */
export class Catalog implements TypeSource {
  private readonly blocks = new Map<string, ReadonlyMap<string, string>>();
  private readonly structs = new Map<string, LazyStruct>();
  private readonly named = new Map<string, FieldType>();
  private table: ReadonlyMap<string, KindFacts> | undefined;
  private readonly links: TypeLinks = { resolve: (name, from) => this.resolve(name, from) };

  constructor(
    private readonly naming: NamingProfile,
    private readonly texts = builtInTexts,
  ) {}

  kind(group: string, version: string, kind: string): StructType | undefined {
    // Options, Status and their like are in every group.
    const facts = this.kindFacts(group, version, kind) ?? this.kindFacts(this.naming.group('meta'), 'v1', kind);
    return facts && this.structCalled(`${facts.package}.${kind}`);
  }

  struct(name: string): StructType {
    const found = this.resolve(name, '');
    assert(found.form === 'struct', `${name} is no struct`);
    return found;
  }

  /** Returns the facts of a kind: resource, list kind, lifecycle. */
  kindFacts(group: string, version: string, kind: string): KindFacts | undefined {
    return this.kinds().get(`${group}/${version}/${kind}`);
  }

  /** All kinds, keyed by `group/version/kind`. */
  kinds(): ReadonlyMap<string, KindFacts> {
    this.table ??= kindTable(`${kinds}\n${aggregationKinds}`, (stem) => this.naming.group(stem));
    return this.table;
  }

  private resolve(name: string, from: string): FieldType {
    const qualified = name.includes('.') ? name : `${from}.${name}`;
    const known = this.structs.get(qualified) ?? this.named.get(qualified);
    if (known) return known;
    const block = this.blockOf(qualified);
    if (isStruct(block)) return this.structCalled(qualified);
    const text = namedOf(block);
    const like = namedType(text, split(qualified).short, this.links);
    if (like.form === 'struct' && !text.isSame) return this.structCalled(qualified);
    this.named.set(qualified, like);
    return like;
  }

  /** Returns a struct by name without parsing its fields. */
  private structCalled(name: string): LazyStruct {
    let struct = this.structs.get(name);
    if (!struct) {
      const { short, local } = split(name);
      struct = new LazyStruct(
        { name, goName: `${goPackageOf(short)}.${local}`, modelName: `${this.modelPackage(short)}.${local}` },
        () => this.bodyOf(name),
        this.links,
      );
      this.structs.set(name, struct);
    }
    return struct;
  }

  private bodyOf(name: string): StructBody {
    const { short } = split(name);
    const block = this.blockOf(name);
    if (isStruct(block)) return { text: structOf(block), from: short };
    // A struct declared as another type has that type's fields under its own name.
    const like = namedType(namedOf(block), short, this.links);
    assert(like.form === 'struct', `${name} is no struct`);
    return this.bodyOf(like.name);
  }

  private blockOf(name: string): string {
    const { short, local } = split(name);
    const block = this.blocksOf(short).get(local);
    assert(block !== undefined, `no type is called ${name}`);
    return block;
  }

  private blocksOf(short: string): ReadonlyMap<string, string> {
    let found = this.blocks.get(short);
    if (!found) {
      const source = this.texts[short];
      assert(source, `no package is called ${short}`);
      this.blocks.set(short, (found = blocksOf(source.text)));
    }
    return found;
  }

  /** `k8s.io/api/core/v1` → `io.k8s.api.core.v1` */
  private modelPackage(short: string): string {
    const [, ...path] = this.texts[short]!.path.split('/');
    return [...this.naming.apiDomain.split('.').reverse(), ...path].join('.');
  }
}

function split(name: string): { short: string; local: string } {
  const at = name.lastIndexOf('.');
  return { short: name.slice(0, at), local: name.slice(at + 1) };
}

/** `core.v1` → `v1`: the package name in Go. */
function goPackageOf(short: string): string {
  return short.slice(short.lastIndexOf('.') + 1);
}
