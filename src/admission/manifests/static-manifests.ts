import { createHash } from 'node:crypto';
import type { NamingProfile } from '../../config/naming-profile.js';
import { LiveFiles } from '../../certificates/live-files.js';
import type { ResourceRegistry } from '../../registry/resource-registry.js';
import type { Clock } from '../../std/clock.js';
import type { Logger } from '../../std/logger.js';
import { YieldTimer } from '../../std/yield-timer.js';
import type { ManifestDirectories, ManifestPlugin } from '../configuration/manifest-directory.configuration.js';
import type { PolicyObjects } from '../policies/policy-objects.js';
import { manifestFiles } from './manifest-files.js';
import { manifestKinds, manifestNameSuffix } from './manifest-kinds.js';
import { ManifestObjects } from './manifest-objects.js';
import { readManifests, type Manifests } from './read-manifests.js';

/** Counts loads of manifests, for metrics. */
export interface ManifestObserver {
  /** `hash` of all files of the directory; empty if they have no content. */
  loaded(plugin: ManifestPlugin, hash: string): void;
  failed(plugin: ManifestPlugin): void;
}

interface ManifestDependencies {
  readonly directories: ManifestDirectories;
  readonly registry: ResourceRegistry;
  readonly stored: PolicyObjects;
  readonly naming: NamingProfile;
  readonly limits: { readonly requestBodyBytesMax: number; readonly requestValuesMax: number };
  readonly observer: ManifestObserver;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A change is used when two polls have found the same files: within five seconds. */
const pollMs = 2_500;
/** As in kube-apiserver, also for file systems that do not report changes. */
const rereadMs = 60_000;

/**
 * Configurations of webhooks, policies and bindings from files (KEP-5793). They are in force before the first request,
 * and cannot be changed by requests. A change that cannot be used is logged and counted, and leaves the last ones in force.
 */
export class StaticManifests {
  private readonly followed = new Map<ManifestPlugin, ManifestObjects>();
  private readonly open: LiveFiles<Manifests>[] = [];

  constructor(private readonly dependencies: ManifestDependencies) {}

  /** Returns the manifests of a plug-in that runs; undefined if it has no directory. */
  objectsOf(plugin: ManifestPlugin): PolicyObjects | undefined {
    if (!this.dependencies.directories.has(plugin)) return undefined;
    let objects = this.followed.get(plugin);
    if (!objects) this.followed.set(plugin, (objects = new ManifestObjects(this.dependencies.stored)));
    return objects;
  }

  /** Loads the manifests of all plug-ins that run, once their kinds are served. Rejects if one of them is invalid. */
  async load(): Promise<void> {
    for (const [plugin, objects] of this.followed) {
      const live = await this.openDirectory(plugin);
      this.open.push(live);
      objects.replace(live.current());
      const objectsByKind = [...live.current().values()].map(({ size }) => size);
      this.dependencies.logger.info('loaded admission manifests', {
        plugin,
        directory: this.dependencies.directories.get(plugin),
        objects: objectsByKind.reduce((sum, size) => sum + size, 0),
      });
      live.onChange((manifests) => objects.replace(manifests));
    }
  }

  /** Checks the files now, instead of at the next poll. */
  async refresh(): Promise<void> {
    for (const live of this.open) await live.refresh();
  }

  async close(): Promise<void> {
    for (const live of this.open) live.close();
    for (const live of this.open) await live.idle();
  }

  private openDirectory(plugin: ManifestPlugin): Promise<LiveFiles<Manifests>> {
    const { directories, limits, observer, clock, logger } = this.dependencies;
    const directory = directories.get(plugin)!;
    return LiveFiles.open<Manifests>({
      subject: `manifests of ${plugin} in ${directory}`,
      files: () => manifestFiles(directory, limits.requestBodyBytesMax),
      parse: async (contents, files) => {
        const manifests = await this.parse(plugin, contents, files);
        observer.loaded(plugin, hashOf(contents));
        return manifests;
      },
      onFailure: () => observer.failed(plugin),
      ...{ pollMs, rereadMs, awaitsEndOfChange: true, clock, logger },
    });
  }

  private async parse(
    plugin: ManifestPlugin,
    contents: readonly Buffer[],
    files: readonly string[],
  ): Promise<Manifests> {
    const { registry, naming, limits, clock } = this.dependencies;
    return new YieldTimer(clock).run(
      readManifests(
        files.map((path, index) => ({ path, bytes: contents[index]! })),
        {
          registry,
          group: naming.group('admissionregistration'),
          kinds: manifestKinds[plugin],
          nameSuffix: manifestNameSuffix(naming),
          valuesMax: limits.requestValuesMax,
        },
      ),
    );
  }
}

function hashOf(contents: readonly Buffer[]): string {
  const filled = contents.filter(({ length }) => length > 0);
  if (filled.length === 0) return '';
  const hash = createHash('sha256');
  for (const bytes of filled) hash.update(bytes).update('\0');
  return `sha256:${hash.digest('hex')}`;
}
