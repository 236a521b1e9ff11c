import { WebhookAuthorizer } from '../../auth/authorization-webhook/authorization-webhook.js';
import { MatchConditions } from '../../auth/authorization-webhook/match-conditions.js';
import type { Limits } from '../../config/limits.js';
import type { KubeconfigClient } from '../../kubeconfig-client/kubeconfig-client.js';
import type { UserInfo } from '../../machinery/user-info.js';
import type { AgentDependencies } from '../agent-dependencies.js';
import { subresourcesOf, verbOf } from './node-attributes.js';
import { reviewClient } from './review-client.js';

interface Dependencies extends AgentDependencies {
  readonly limits: Limits;
  readonly client: KubeconfigClient | undefined;
}

/** A request that is not allowed, or that could not be decided. */
interface AccessRefusal {
  readonly status: 403 | 500;
  readonly text: string;
}

/** Authorizes requests to the agent as those of subresources of its Node: all of them, or by SubjectAccessReviews. */
export class AgentAuthorizer {
  private constructor(
    private readonly dependencies: Dependencies,
    private readonly webhook: WebhookAuthorizer | undefined,
  ) {}

  static async open(dependencies: Dependencies): Promise<AgentAuthorizer> {
    const { options, client } = dependencies;
    const isAsked = options.authorization.mode === 'Webhook' && client !== undefined;
    return new AgentAuthorizer(dependencies, isAsked ? await accessWebhook(dependencies, client) : undefined);
  }

  /** Returns undefined for a request that is allowed. `path` is decoded. */
  async refusal(user: UserInfo, method: string, path: string): Promise<AccessRefusal | undefined> {
    if (!this.webhook) return undefined;
    const { options } = this.dependencies;
    const subresources = subresourcesOf(path, options.featureGates['KubeletFineGrainedAuthz'] === true);
    const verb = verbOf(method);
    for (const subresource of subresources) {
      const { decision, evaluationError } = await this.webhook.authorize({
        ...{ user, verb, subresource, path, isResourceRequest: true },
        ...{ group: '', version: 'v1', resource: 'nodes', namespace: '', name: options.nodeName },
      });
      if (decision === 'allow') return undefined;
      // The API server could not be asked.
      if (decision === 'no opinion' && evaluationError !== undefined) {
        const text = `Authorization error (user=${user.name}, verb=${verb}, resource=nodes, subresource=${subresource})`;
        return { status: 500, text };
      }
    }
    const list = subresources.join(' ');
    return {
      status: 403,
      text: `Forbidden (user=${user.name}, verb=${verb}, resource=nodes, subresource(s)=[${list}])\n`,
    };
  }
}

async function accessWebhook(
  { options, limits, clock, rng, logger }: Dependencies,
  client: KubeconfigClient,
): Promise<WebhookAuthorizer> {
  const apiVersion = `${options.naming.group('authorization')}/v1`;
  const nothing = () => undefined;
  return new WebhookAuthorizer({
    ...{ clock, rng, logger, apiVersion, name: 'api-server', failurePolicy: 'NoOpinion' },
    client: reviewClient(client, `/apis/${apiVersion}/subjectaccessreviews`),
    conditions: await MatchConditions.compile([], clock),
    observer: { called: nothing, failedOpen: nothing, conditionsEvaluated: nothing },
    webhookObserver: { refusedCertificate: nothing },
    answerBytesMax: limits.accessReviewAnswerBytesMax,
    allowedTtlMs: options.authorization.allowedTtlMs,
    otherTtlMs: options.authorization.otherTtlMs,
    limits: {
      entriesMax: limits.accessReviewsCachedMax,
      bytesMax: limits.accessReviewsCachedBytesMax,
      pendingMax: limits.accessReviewsPendingMax,
      pendingBytesMax: limits.accessReviewsPendingBytesMax,
    },
  });
}
