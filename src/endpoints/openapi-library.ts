import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Catalog } from '../catalog/catalog.js';
import { json, type Encoding } from '../codec/encodings.js';
import { openApiV2Message } from '../codec/openapi-v2-proto.js';
import { openApiV3Message } from '../codec/openapi-v3-proto.js';
import { apiVersion } from '../config/version.js';
import type { GroupVersionKind } from '../machinery/gvk.js';
import type { ResourceDefinition } from '../registry/resource-definition.js';
import { isCustom, type ResourceRegistry, type ServedVersion } from '../registry/resource-registry.js';
import {
  openApiV2,
  openApiV3,
  type ApiInfo,
  type OpenApiV2Document,
  type OpenApiV3Document,
} from './openapi-documents.js';
import { OpenApiKinds, type GroupVersion } from './openapi-kinds.js';
import {
  isCustomVersion,
  pathOfGroup,
  pathOfRoot,
  pathsOfVersion,
  type ApiPath,
  type PathParts,
} from './openapi-paths.js';
import { OpenApiSchemas } from './openapi-schemas.js';
import { serverPaths, type ServerPath } from './openapi-server-paths.js';
import type { Steps } from '../std/steps.js';
import { YieldTimer } from '../std/yield-timer.js';
import type { Dialect } from './openapi-type-schemas.js';
import type { Clock } from '../std/clock.js';

export interface LibraryParts {
  readonly registry: ResourceRegistry;
  readonly encodings: readonly Encoding[];
  readonly catalog: Catalog;
  /** `k8s.io` */
  readonly apiDomain: string;
  /** `kubernetes`: what the API calls itself. */
  readonly apiName: string;
  /** Those that are served. */
  readonly serverPaths: readonly ServerPath[];
  readonly clock: Clock;
}

/** One document in the forms in which it is sent. Each is made when it is first asked for. */
export class OpenApiDocument {
  /** Of the JSON: the same in every replica that serves the same, and for every form. */
  readonly hash: string;
  private message: Promise<Buffer> | undefined = undefined;
  private gzippedJson: Promise<Buffer> | undefined = undefined;

  constructor(
    readonly json: Buffer,
    private readonly makeMessage: () => Promise<Buffer>,
  ) {
    this.hash = createHash('sha256').update(json).digest('hex').toUpperCase();
  }

  protobuf(): Promise<Buffer> {
    return (this.message ??= this.makeMessage());
  }

  gzipped(): Promise<Buffer> {
    return (this.gzippedJson ??= promisify(gzip)(this.json));
  }
}

type Making = () => Promise<OpenApiDocument>;

/** What documents of custom kinds call themselves: their versions are those of the kinds. */
const customInfoVersion = 'v0.1.0';

/**
 * /openapi/v2, all in one document, and those of /openapi/v3, one for each group and version (KEP-2896). Documents are
 * made when they are first asked for, in steps; those of a version are made again only when that version is.
 */
export class OpenApiLibrary {
  private readonly ofVersions = new WeakMap<ServedVersion, Promise<OpenApiDocument>>();
  private readonly ofPaths = new Map<string, Promise<OpenApiDocument>>();
  private makers = new Map<string, Making>();
  private whole: Promise<OpenApiDocument> | undefined;
  private generation = -1;
  private readonly kinds: OpenApiKinds;
  private readonly info: ApiInfo;

  constructor(private readonly parts: LibraryParts) {
    this.kinds = new OpenApiKinds(parts.catalog);
    this.info = { title: capitalised(parts.apiName), version: `${apiVersion.major}.${apiVersion.minor}` };
  }

  v2(): Promise<OpenApiDocument> {
    this.refresh();
    const versions = this.parts.registry.servedVersions();
    return (this.whole ??= this.document(() => this.stepsV2(versions), openApiV2Message));
  }

  /** By name: `api`, `api/v1`, `apis`, `apis/apps`, `apis/apps/v1`, `version`. */
  v3(): ReadonlyMap<string, Making> {
    this.refresh();
    return this.makers;
  }

  private refresh(): void {
    const { registry, serverPaths: others } = this.parts;
    if (registry.generation === this.generation) return;
    this.generation = registry.generation;
    this.whole = undefined;
    const makers: [string, Making][] = [];
    for (const root of ['api', 'apis'] as const) {
      makers.push([root, this.ofPath(root, (parts) => pathOfRoot(root, parts))]);
    }
    for (const path of others) makers.push([path, this.ofPath(path, serverPaths[path])]);
    for (const served of registry.servedVersions()) {
      const { group, version } = served;
      const make = () => this.ofVersion(served);
      if (group === '') makers.push([`api/${version}`, make]);
      else {
        makers.push([`apis/${group}/${version}`, make]);
        if (isCustomVersion(served)) continue;
        makers.push([`apis/${group}`, this.ofPath(`apis/${group}`, (parts) => pathOfGroup(group, parts))]);
      }
    }
    this.makers = new Map(makers.sort(([a], [b]) => (a < b ? -1 : 1)));
    for (const name of this.ofPaths.keys()) if (!this.makers.has(name)) this.ofPaths.delete(name);
  }

  private ofVersion(served: ServedVersion): Promise<OpenApiDocument> {
    let found = this.ofVersions.get(served);
    if (!found) {
      found = this.documentV3([served], (parts) => pathsOfVersion(served, parts));
      this.ofVersions.set(served, found);
    }
    return found;
  }

  /** Of a path that says the same whatever is below it. */
  private ofPath(name: string, path: (parts: PathParts) => ApiPath): Making {
    return () => {
      let found = this.ofPaths.get(name);
      if (!found) {
        found = this.documentV3([], function* (parts) {
          return [path(parts)];
        });
        this.ofPaths.set(name, found);
      }
      return found;
    };
  }

  private documentV3(
    about: readonly ServedVersion[],
    paths: (parts: PathParts) => Steps<ApiPath[]>,
  ): Promise<OpenApiDocument> {
    return this.document(() => this.stepsV3(about, paths), openApiV3Message);
  }

  /** The message is made from the document anew: few ask for it, and nobody pays for keeping the document as objects. */
  private async document<D>(
    steps: () => Steps<D>,
    toMessage: (document: D) => Steps<Buffer>,
  ): Promise<OpenApiDocument> {
    const { clock } = this.parts;
    const bytes = json.encode(await new YieldTimer(clock).run(steps()));
    return new OpenApiDocument(bytes, async () => {
      const timer = new YieldTimer(clock);
      return timer.run(toMessage(await timer.run(steps())));
    });
  }

  private *stepsV3(
    about: readonly ServedVersion[],
    paths: (parts: PathParts) => Steps<ApiPath[]>,
  ): Steps<OpenApiV3Document> {
    const parts = this.pathParts('v3', about, about);
    const isCustom = about.some(isCustomVersion);
    const info = isCustom ? { title: `${this.info.title} CRD Swagger`, version: customInfoVersion } : this.info;
    return yield* openApiV3(info, yield* paths(parts), parts.schemas.all(), { isCustom });
  }

  private *stepsV2(versions: readonly ServedVersion[]): Steps<OpenApiV2Document> {
    const builtIn = versions.filter((served) => !isCustomVersion(served));
    const parts = this.pathParts('v2', versions, allOf([...this.kinds.groupVersions(), ...builtIn]));
    const groups = new Set(builtIn.map(({ group }) => group).filter((group) => group !== ''));
    const paths = [
      pathOfRoot('api', parts),
      pathOfRoot('apis', parts),
      ...this.parts.serverPaths.map((path) => serverPaths[path](parts)),
      ...[...groups].map((group) => pathOfGroup(group, parts)),
    ];
    for (const served of versions) paths.push(...(yield* pathsOfVersion(served, parts)));
    paths.sort((a, b) => (a.path < b.path ? -1 : 1));
    return yield* openApiV2(this.info, paths, parts.schemas.all());
  }

  private pathParts(dialect: Dialect, versions: readonly ServedVersion[], about: readonly GroupVersion[]): PathParts {
    const { encodings, apiDomain, catalog } = this.parts;
    const custom = customKindsOf(versions);
    const customKind = (gvk: GroupVersionKind) => custom.get(keyOf(gvk));
    const schemas = new OpenApiSchemas({ types: catalog, kinds: this.kinds, apiDomain, customKind }, dialect, about);
    return { encodings, apiDomain, schemas };
  }
}

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
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

/** Each once, by name. */
function allOf(groupVersions: readonly GroupVersion[]): GroupVersion[] {
  const keyed = new Map(groupVersions.map((each) => [`${each.group} ${each.version}`, each]));
  return [...keyed].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
}
