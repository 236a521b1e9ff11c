import type { Limits } from '../../config/limits.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import type { InjectCall } from '../../kubeconfig-client/injected-call.js';
import type { Clock } from '../../std/clock.js';
import type { Logger } from '../../std/logger.js';
import type { Rng } from '../../std/rng.js';
import type { Authorizer } from '../authorizer.js';
import type { WebhookAuthorizerConfiguration } from '../configuration/webhook-authorizer-configuration.js';
import type { WebhookObserver } from '../webhook/post-review.js';
import type { AuthorizationWebhookObserver } from './authorization-webhook-observer.js';
import type { PodSurroundings } from './in-cluster-kubeconfig.js';

interface AuthorizationWebhookDependencies {
  readonly naming: NamingProfile;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly logger: Logger;
  readonly webhookObserver: WebhookObserver;
  readonly observer: AuthorizationWebhookObserver;
  /** Absent without --allow-faults. */
  readonly injectCall?: InjectCall | undefined;
  /** For InClusterConfig. Default: those of this process. */
  readonly pod?: PodSurroundings;
}

/** An authorizer that asks a webhook. */
export interface AuthorizationWebhook extends Authorizer {
  /** Closes idle connections. Requests that wait for an answer still get it. */
  close(): void;
}

/**
 * Opens the connection of a webhook and compiles its match conditions. Sends nothing. Rejects with a ClientError if the
 * kubeconfig, or a file that it names, cannot be used.
 */
export type OpenAuthorizationWebhook = (
  configuration: WebhookAuthorizerConfiguration,
  dependencies: AuthorizationWebhookDependencies,
) => Promise<AuthorizationWebhook>;
