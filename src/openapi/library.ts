import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Catalog } from '../catalog/catalog.js';
import { json } from '../codec/encodings.js';
import type { Encoding } from '../codec/encoding.js';
import { openApiV2Message } from '../codec/openapi-v2-proto.js';
import { openApiV3Message } from '../codec/openapi-v3-proto.js';
import type { RemoteSwagger } from '../aggregation/remote-documents.js';
import { apiVersion } from '../config/version.js';
import type { GroupVersionKind } from '../machinery/gvk.js';
import type { ResourceDefinition } from '../registry/definition/resource-definition.js';
import { isCustom, type ServedVersion } from '../registry/resource-registry.js';
import type { VisibleResources } from '../registry/visible-resources.js';
import { openApiV2, openApiV3, type ApiInfo, type OpenApiV2Document, type OpenApiV3Document } from './documents.js';
import { OpenApiKinds, type GroupVersion } from './kinds.js';
import {
  isCustomVersion,
  pathOfGroup,
  pathOfRoot,
  pathsOfVersion,
  type ApiPath,
  type PathDependencies,
} from './paths.js';
import { mergeSwagger } from './merge-swagger.js';
import { OpenApiSchemas } from './schemas.js';
import { serverPaths, type ServerPath } from './server-paths.js';
import type { Steps } from '../std/steps.js';
import { YieldTimer } from '../std/yield-timer.js';
import type { Dialect } from './type-schemas.js';
import type { Clock } from '../std/clock.js';
import { capitalized } from '../std/capitalized.js';

export interface LibraryDependencies {
  readonly registry: VisibleResources;
  readonly encodings: readonly Encoding[];
  readonly catalog: Catalog;
  /** `k8s.io` */
  readonly apiDomain: string;
  /** Name of the API in titles: `kubernetes`. */
  readonly apiName: string;
  /** Served paths outside the API groups. */
  readonly serverPaths: readonly ServerPath[];
  readonly clock: Clock;
  /** OpenAPI v2 of aggregated servers; absent without such servers. */
  readonly remoteSwaggers?: () => readonly RemoteSwagger[];
}

/** One document with its encodings, which are computed on first use. */
export class OpenApiDocument {
  /** SHA-256 of the JSON, used for all encodings. Equal in all replicas that serve the same resources. */
  readonly hash: string;
  private message: Promise<Buffer> | undefined = undefined;
  private gzippedJson: Promise<Buffer> | undefined = undefined;

  constructor(
    readonly json: Buffer,
    private readonly encodeProtobuf: () => Promise<Buffer>,
  ) {
    this.hash = createHash('sha256').update(json).digest('hex').toUpperCase();
  }

  protobuf(): Promise<Buffer> {
    return (this.message ??= this.encodeProtobuf());
  }

  gzipped(): Promise<Buffer> {
    return (this.gzippedJson ??= promisify(gzip)(this.json));
  }
}

type LazyDocument = () => Promise<OpenApiDocument>;

/** info.version of documents of custom kinds, as in kube-apiserver. */
const customInfoVersion = 'v0.1.0';

/**
 * Documents of /openapi/v2 (one for everything) and /openapi/v3 (one for each group and version, KEP-2896). They are
 * computed on first use, with yields to the event loop, and again only after their resources have changed.
 */
export class OpenApiLibrary {
  private readonly ofVersions = new WeakMap<ServedVersion, Promise<OpenApiDocument>>();
  private readonly ofPaths = new Map<string, Promise<OpenApiDocument>>();
  private lazyDocuments = new Map<string, LazyDocument>();
  private whole: Promise<OpenApiDocument> | undefined;
  /** Remote documents that `whole` contains. */
  private swaggers: readonly RemoteSwagger[] = [];
  private generation = -1;
  private readonly kinds: OpenApiKinds;
  private readonly info: ApiInfo;

  constructor(private readonly dependencies: LibraryDependencies) {
    this.kinds = new OpenApiKinds(dependencies.catalog);
    this.info = { title: capitalized(dependencies.apiName), version: `${apiVersion.major}.${apiVersion.minor}` };
  }

  v2(): Promise<OpenApiDocument> {
    this.refresh();
    const { registry, remoteSwaggers } = this.dependencies;
    const swaggers = remoteSwaggers?.() ?? [];
    const isSame = swaggers.length === this.swaggers.length && swaggers.every((each, i) => each === this.swaggers[i]);
    if (this.whole && isSame) return this.whole;
    this.swaggers = swaggers;
    const versions = registry.servedVersions();
    return (this.whole = this.document(() => this.stepsV2(versions, swaggers), openApiV2Message));
  }

  /** Returns the documents by name: `api`, `api/v1`, `apis`, `apis/apps`, `apis/apps/v1`, `version`. */
  v3(): ReadonlyMap<string, LazyDocument> {
    this.refresh();
    return this.lazyDocuments;
  }

  private refresh(): void {
    const { registry, serverPaths: others } = this.dependencies;
    if (registry.generation === this.generation) return;
    this.generation = registry.generation;
    this.whole = undefined;
    const entries: [string, LazyDocument][] = [];
    for (const root of ['api', 'apis'] as const) {
      entries.push([root, this.ofPath(root, (dependencies) => pathOfRoot(root, dependencies))]);
    }
    for (const path of others) entries.push([path, this.ofPath(path, serverPaths[path])]);
    for (const served of registry.servedVersions()) {
      const { group, version } = served;
      const document = () => this.ofVersion(served);
      if (group === '') entries.push([`api/${version}`, document]);
      else {
        entries.push([`apis/${group}/${version}`, document]);
        if (isCustomVersion(served)) continue;
        entries.push([
          `apis/${group}`,
          this.ofPath(`apis/${group}`, (dependencies) => pathOfGroup(group, dependencies)),
        ]);
      }
    }
    this.lazyDocuments = new Map(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
    for (const name of this.ofPaths.keys()) if (!this.lazyDocuments.has(name)) this.ofPaths.delete(name);
  }

  private ofVersion(served: ServedVersion): Promise<OpenApiDocument> {
    let found = this.ofVersions.get(served);
    if (!found) {
      found = this.documentV3([served], (dependencies) => pathsOfVersion(served, dependencies));
      this.ofVersions.set(served, found);
    }
    return found;
  }

  /** Returns the document of a path that does not depend on the served resources. */
  private ofPath(name: string, path: (dependencies: PathDependencies) => ApiPath): LazyDocument {
    return () => {
      let found = this.ofPaths.get(name);
      if (!found) {
        found = this.documentV3([], function* (dependencies) {
          return [path(dependencies)];
        });
        this.ofPaths.set(name, found);
      }
      return found;
    };
  }

  private documentV3(
    about: readonly ServedVersion[],
    paths: (dependencies: PathDependencies) => Steps<ApiPath[]>,
  ): Promise<OpenApiDocument> {
    return this.document(() => this.stepsV3(about, paths), openApiV3Message);
  }

  /**
   * Computes the JSON of a document. For protobuf the document is computed again on demand, since few clients ask for
   * it and keeping the object tree would cost memory.
   */
  private async document<D>(
    steps: () => Steps<D>,
    toMessage: (document: D) => Steps<Buffer>,
  ): Promise<OpenApiDocument> {
    const { clock } = this.dependencies;
    const bytes = json.encode(await new YieldTimer(clock).run(steps()));
    return new OpenApiDocument(bytes, async () => {
      const timer = new YieldTimer(clock);
      return timer.run(toMessage(await timer.run(steps())));
    });
  }

  private *stepsV3(
    about: readonly ServedVersion[],
    paths: (dependencies: PathDependencies) => Steps<ApiPath[]>,
  ): Steps<OpenApiV3Document> {
    const dependencies = this.pathDependencies('v3', about, about);
    const isCustom = about.some(isCustomVersion);
    const info = isCustom ? { title: `${this.info.title} CRD Swagger`, version: customInfoVersion } : this.info;
    return yield* openApiV3(info, yield* paths(dependencies), dependencies.schemas.all(), { isCustom });
  }

  private *stepsV2(versions: readonly ServedVersion[], swaggers: readonly RemoteSwagger[]): Steps<OpenApiV2Document> {
    const builtIn = versions.filter((served) => !isCustomVersion(served));
    const dependencies = this.pathDependencies('v2', versions, allOf([...this.kinds.groupVersions(), ...builtIn]));
    const groups = new Set(builtIn.map(({ group }) => group).filter((group) => group !== ''));
    const paths = [
      pathOfRoot('api', dependencies),
      pathOfRoot('apis', dependencies),
      ...this.dependencies.serverPaths.map((path) => serverPaths[path](dependencies)),
      ...[...groups].map((group) => pathOfGroup(group, dependencies)),
    ];
    for (const served of versions) paths.push(...(yield* pathsOfVersion(served, dependencies)));
    paths.sort((a, b) => (a.path < b.path ? -1 : 1));
    const own = yield* openApiV2(this.info, paths, dependencies.schemas.all());
    return swaggers.length === 0 ? own : yield* mergeSwagger(own, swaggers);
  }

  private pathDependencies(
    dialect: Dialect,
    versions: readonly ServedVersion[],
    about: readonly GroupVersion[],
  ): PathDependencies {
    const { encodings, apiDomain, catalog } = this.dependencies;
    const custom = customKindsOf(versions);
    const customKind = (gvk: GroupVersionKind) => custom.get(keyOf(gvk));
    const schemas = new OpenApiSchemas({ types: catalog, kinds: this.kinds, apiDomain, customKind }, dialect, about);
    return { encodings, apiDomain, schemas };
  }
}

function customKindsOf(versions: readonly ServedVersion[]): Map<string, ResourceDefinition> {
  const definitions = versions.flatMap(({ resources }) =>
    resources.filter(isCustom).map(({ definition }) => definition),
  );
  return new Map(definitions.map((definition) => [keyOf(definition), definition]));
}

function keyOf({ group, version, kind }: GroupVersionKind): string {
  return `${group}/${version}/${kind}`;
}

/** Removes duplicates and sorts by group and version. */
function allOf(groupVersions: readonly GroupVersion[]): GroupVersion[] {
  const keyed = new Map(groupVersions.map((each) => [`${each.group} ${each.version}`, each]));
  return [...keyed].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
}
