import type { NamingProfile } from '../config/naming-profile.js';
import type { RequestState } from '../answers/request-state.js';
import { deprecationWarning } from '../registry/apis/api-lifecycle.js';
import type { ResourceRegistry, Served } from '../registry/resource-registry.js';
import { family, type Labels, type MetricFamily } from '../metrics/metric-family.js';

/** Records requests to deprecated APIs: as a warning to the client, in the audit annotations and in the metrics. */
export class DeprecatedRequests {
  private readonly requested = new Map<string, Labels>();
  /** Warning texts by resource, computed once each. */
  private readonly warnings = new WeakMap<Served, string | undefined>();
  private readonly deprecatedKey: string;
  private readonly removedReleaseKey: string;

  constructor(
    naming: NamingProfile,
    private readonly registry: ResourceRegistry,
  ) {
    this.deprecatedKey = naming.apiLabel('deprecated');
    this.removedReleaseKey = naming.apiLabel('removed-release');
    registry.onChange(() => this.dropGone());
  }

  /** Called only for requests to served resources, which bounds the number of label sets. */
  note(state: RequestState, served: Served): void {
    const { lifecycle } = served;
    if (lifecycle?.deprecated === undefined && lifecycle?.warning === undefined) return;
    if (!this.warnings.has(served)) this.warnings.set(served, deprecationWarning(served.definition, lifecycle));
    const warning = this.warnings.get(served);
    if (warning === undefined) return;

    state.warnings.push(warning);
    const { removed = '' } = lifecycle;
    state.auditAnnotations.set(this.deprecatedKey, 'true');
    if (removed !== '') state.auditAnnotations.set(this.removedReleaseKey, removed);
    const { group, version, resource, subresource } = state.info;
    const key = `${group}/${version}/${resource}/${subresource}`;
    if (this.requested.has(key)) return;
    this.requested.set(key, { group, version, resource, subresource, removed_release: removed });
  }

  families(): MetricFamily[] {
    return [
      family(
        'apiserver_requested_deprecated_apis',
        'gauge',
        '[STABLE] Deprecated APIs requested since the start, with the release that removes them.',
        () => Array.from(this.requested.values(), (labels) => ({ labels, value: 1 })),
      ),
    ];
  }

  /**
   * Removes the series of resources that are no longer served: clients can create and delete any number of custom kinds.
   */
  private dropGone(): void {
    for (const [key, { group = '', version = '', resource = '' }] of this.requested) {
      if (!this.registry.find(group, version, resource)) this.requested.delete(key);
    }
  }
}
