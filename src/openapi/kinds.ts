import type { Catalog } from '../catalog/catalog.js';
import type { GroupVersionKind } from '../machinery/gvk.js';

export type GroupVersion = Pick<GroupVersionKind, 'group' | 'version'>;

/** Kinds of the API machinery, which belong to no group. */
const machineryKinds: ReadonlySet<string> = new Set([
  ...['APIGroup', 'APIGroupList', 'APIResourceList', 'APIVersions', 'DeleteOptions', 'Status', 'WatchEvent'],
]);
/** Packages of types that belong to no group: they describe responses, not objects. */
const groupless: ReadonlySet<string> = new Set([
  'meta.v1',
  'types',
  'version',
  'apidiscovery.v2',
  'apidiscovery.v2beta1',
]);

/** Maps structs of the catalog to kinds, and lists the groups and versions of built-in kinds. Loaded on first use. */
export class OpenApiKinds {
  private read: { readonly byStruct: ReadonlyMap<string, GroupVersionKind>; readonly all: GroupVersion[] } | undefined;

  constructor(private readonly catalog: Pick<Catalog, 'kinds'>) {}

  /** Returns the kind of a struct, for example `core.v1.Pod`; undefined if the struct is not a kind. */
  kindOf(struct: string): GroupVersionKind | undefined {
    return this.loaded().byStruct.get(struct);
  }

  /** Returns the groups and versions of all built-in kinds, served or not. */
  groupVersions(): readonly GroupVersion[] {
    return this.loaded().all;
  }

  private loaded() {
    if (!this.read) {
      const byStruct = new Map<string, GroupVersionKind>();
      const all = new Map<string, GroupVersion>();
      for (const { group, version, kind, package: short } of this.catalog.kinds().values()) {
        if (!groupless.has(short)) {
          byStruct.set(`${short}.${kind}`, { group, version, kind });
          all.set(`${group}/${version}`, { group, version });
        } else if (short === 'meta.v1' && machineryKinds.has(kind)) {
          byStruct.set(`${short}.${kind}`, { group: '', version, kind });
        }
      }
      this.read = { byStruct, all: [...all.values()] };
    }
    return this.read;
  }
}
