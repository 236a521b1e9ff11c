import type { CacheObserver } from '../cache/watch-cache.js';
import { deepEqual } from '../machinery/deep-equal.js';
import { apiVersionOf } from '../machinery/gvk.js';
import type { KubeObject } from '../machinery/kube-object.js';
import type { ResourceDefinition } from '../registry/definition/resource-definition.js';
import type { ResourceRegistry, ServedResource, ServedVersion } from '../registry/resource-registry.js';
import { ResourceStore, type StoreDependencies } from '../registry/resource-store.js';
import type { Logger } from '../std/logger.js';
import { customDefinitions } from './custom-definitions.js';
import {
  WebhookConverter,
  type ConverterDependencies,
  type WebhookConversion,
} from './conversion/webhook-converter.js';
import { customKindOf, webhookOf, type CustomKind } from './custom-kind.js';

interface CustomKindsDependencies {
  readonly registry: ResourceRegistry;
  readonly storeDependencies: StoreDependencies;
  readonly logger: Logger;
  /** The store of CustomResourceDefinitions. */
  readonly definitions: ResourceStore;
  readonly conversion: ConverterDependencies;
}

interface Served {
  readonly kind: CustomKind;
  /** Undefined for strategy None. */
  readonly converter: WebhookConverter | undefined;
  readonly store: ResourceStore;
  readonly resources: readonly ServedResource[];
}

interface ReadDefinition {
  readonly kind: CustomKind;
  readonly webhook: WebhookConversion | undefined;
}

/**
 * Serves custom kinds: registers the versions of each definition whose names are accepted, and removes them with the
 * definition. Observes the cache of definitions, so that a kind is served before watchers of definitions see the event.
 */
export class CustomKinds implements CacheObserver {
  /** Keyed by the name of the definition. */
  private readonly served = new Map<string, Served>();
  private readonly builtIn: ReadonlySet<string>;

  constructor(private readonly dependencies: CustomKindsDependencies) {
    this.builtIn = new Set(
      dependencies.registry.servedVersions().map(({ group, version }) => apiVersionOf(group, version)),
    );
  }

  /** Returns a function that stops observing. */
  follow(): () => void {
    const end = this.dependencies.definitions.cache.observe(this);
    return () => {
      end();
      for (const { converter } of this.served.values()) converter?.close();
    };
  }

  changed({ current, previous }: Parameters<CacheObserver['changed']>[0]): void {
    const { name } = (current ?? previous)!.attributes;
    this.update(new Map([[name, this.read(name, () => current?.parse())]]));
  }

  reset(): void {
    const { definitions } = this.dependencies;
    const kinds = new Map<string, ReadDefinition | undefined>([...this.served.keys()].map((name) => [name, undefined]));
    for (const encoded of definitions.cache.snapshot().range(definitions.scopeOf(''))) {
      const { name } = encoded.attributes;
      kinds.set(
        name,
        this.read(name, () => encoded.parse()),
      );
    }
    this.update(kinds);
  }

  private read(name: string, parse: () => KubeObject | undefined): ReadDefinition | undefined {
    try {
      const definition = parse();
      const kind = definition && customKindOf(definition);
      return kind && { kind, webhook: webhookOf(definition) };
    } catch (error) {
      this.dependencies.logger.error(
        'a CustomResourceDefinition cannot be decoded, its kind is not served; see docs/shared-etcd.md',
        { name, error },
      );
      return undefined;
    }
  }

  /**
   * Registers, replaces and removes resources so that they match `kinds`. Resources of an unchanged kind stay as they
   * are, and so do their watches.
   */
  private update(kinds: ReadonlyMap<string, ReadDefinition | undefined>): void {
    const touched = new Map<string, { readonly group: string; readonly version: string }>();
    const touch = ({ resources }: Served) => {
      for (const { definition } of resources) {
        touched.set(`${definition.group}/${definition.version}`, definition);
      }
    };
    for (const [name, definition] of kinds) {
      const before = this.served.get(name);
      if (before && definition && deepEqual(before.kind, definition.kind)) {
        if (definition.webhook) before.converter?.configure(definition.webhook);
        continue;
      }
      if (before) {
        touch(before);
        before.converter?.close();
        this.served.delete(name);
        this.dependencies.storeDependencies.feed.removeResource(before.store.scopeOf(''));
      }
      const now = definition && this.serve(name, definition);
      if (!now) continue;
      this.served.set(name, now);
      touch(now);
    }
    this.dependencies.registry.replaceVersions([...touched.values()].map((version) => this.versionOf(version)));
  }

  private serve(name: string, { kind, webhook }: ReadDefinition): Served | undefined {
    const { storeDependencies, logger, conversion } = this.dependencies;
    const converter = webhook && new WebhookConverter(name, webhook, conversion);
    let store: ResourceStore | undefined;
    try {
      const definitions = customDefinitions(kind, storeDependencies.types, converter);
      if (!definitions) return undefined;
      store = new ResourceStore(definitions.stored, storeDependencies);
      const resources: ServedResource[] = [];
      for (const { definition, version } of definitions.served) {
        const problem = this.obstacle(definition);
        if (problem !== undefined) {
          logger.warn('a version of a CustomResourceDefinition is not served', {
            name,
            version: version.name,
            reason: problem,
          });
          continue;
        }
        if (definition.hub) store.ownership.add(definition, undefined);
        const lifecycle = version.deprecation === undefined ? {} : { lifecycle: { warning: version.deprecation } };
        resources.push({ type: 'stored', definition, struct: undefined, store, handlers: new Map(), ...lifecycle });
      }
      return { kind, converter, store, resources };
    } catch (error) {
      logger.error('a CustomResourceDefinition cannot be served; correct or delete it', { name, error });
      if (store) storeDependencies.feed.removeResource(store.scopeOf(''));
      return undefined;
    }
  }

  private obstacle({ group, version }: ResourceDefinition): string | undefined {
    return this.builtIn.has(apiVersionOf(group, version))
      ? 'the server has a built-in group and version of this name'
      : undefined;
  }

  private versionOf({ group, version }: { readonly group: string; readonly version: string }): ServedVersion {
    const resources = [...this.served.values()].flatMap(({ resources }) =>
      resources.filter(({ definition }) => definition.group === group && definition.version === version),
    );
    return { group, version, groupPriority: 1000, versionPriority: 100, resources };
  }
}
