import type { Upstreams } from '../forwarding/upstreams.js';
import type { IdentityHeaderNames } from './identity-headers.js';
import type { RemoteClient } from './remote-client.js';
import type { RemoteDocuments } from './remote-documents.js';
import type { RemoteTargets } from './remote-targets.js';
import type { RemoteVersions } from './remote-versions.js';
import type { UnavailableVersions } from './unavailable-versions.js';

/** The aggregated API servers: requests for groups and versions that their APIServices name are forwarded to them. */
export interface Aggregation {
  readonly versions: RemoteVersions;
  readonly documents: RemoteDocuments;
  readonly targets: RemoteTargets;
  readonly client: RemoteClient;
  readonly upstreams: Upstreams;
  readonly headerNames: IdentityHeaderNames;
  readonly unavailable: UnavailableVersions;
}
