import type { Catalog } from '../catalog/catalog.js';
import type { GroupVersionKind } from '../machinery/gvk.js';

export type GroupVersion = Pick<GroupVersionKind, 'group' | 'version'>;

/** What the API machinery sends on its own: kinds without a group. */
const machineryKinds: ReadonlySet<string> = new Set([
  ...['APIGroup', 'APIGroupList', 'APIResourceList', 'APIVersions', 'DeleteOptions', 'Status', 'WatchEvent'],
]);
/** Packages of types that belong to no group: they describe answers, not objects. */
const groupless: ReadonlySet<string> = new Set([
  'meta.v1',
  'types',
  'version',
  'apidiscovery.v2',
  'apidiscovery.v2beta1',
]);

/** Which structs are kinds, and of which groups and versions there are kinds at all. Read when it is first asked for. */
export class OpenApiKinds {
  private read: { readonly byStruct: ReadonlyMap<string, GroupVersionKind>; readonly all: GroupVersion[] } | undefined;

  constructor(private readonly catalog: Pick<Catalog, 'kinds'>) {}

  /** By the struct's name: `core.v1.Pod`. */
  kindOf(struct: string): GroupVersionKind | undefined {
    return this.loaded().byStruct.get(struct);
  }

  /** Those that are built in, served or not. */
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
