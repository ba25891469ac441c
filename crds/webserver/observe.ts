/** What the operator says about a WebServer, judged only from its live Deployment. */
import type { Condition } from '../../charts/resource.ts';
import { selectorTextOf } from '../../charts/labels.ts';
import { findCondition } from '../conditions.ts';
import { Deployment, type LiveDeployment } from '../owned.ts';
import type { ConditionInput, Observed, StatusInput } from '../kind.ts';
import { application } from './children.ts';
import type { WebServer } from './schema.ts';

type WebServerStatus = StatusInput<NonNullable<WebServer['status']>>;

/** Pure: what is said depends on nothing but the arguments. */
export function observe(server: WebServer, observed: Observed): WebServerStatus {
  const deployment = observed.get(Deployment, server.metadata.name);
  const rollout = rolloutOf(server.spec.replicas, deployment);
  return {
    replicas: rollout.existing,
    readyReplicas: rollout.ready,
    selector: selectorTextOf({ application, instance: server.metadata.name }),
    conditions: [available(rollout), progressing(rollout), degraded(rollout)],
  };
}

/** How far the Deployment is; counts are 0 where it has not said any. */
interface Rollout {
  readonly wanted: number;
  readonly existing: number;
  readonly updated: number;
  readonly ready: number;
  readonly available: number;
  /** Whether the counts are about the Deployment as it is now written. */
  readonly isCurrent: boolean;
  /** The Deployment's condition of that type. */
  readonly condition: (type: string) => Condition | undefined;
}

function rolloutOf(wanted: number, deployment: LiveDeployment | undefined): Rollout {
  const status = deployment?.status ?? {};
  return {
    wanted,
    existing: status.replicas ?? 0,
    updated: status.updatedReplicas ?? 0,
    ready: status.readyReplicas ?? 0,
    available: status.availableReplicas ?? 0,
    isCurrent: deployment !== undefined && (status.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 1),
    condition: (type) => findCondition(status.conditions, type),
  };
}

/** True while as many pods as wanted can take traffic, old ones of a running rollout included. */
function available({ wanted, available: count }: Rollout): ConditionInput {
  const message = `${count} of ${wanted} replicas are available`;
  return count >= wanted
    ? { type: 'Available', status: 'True', reason: 'ReplicasAvailable', message }
    : { type: 'Available', status: 'False', reason: 'ReplicasUnavailable', message };
}

/** True while pods are on their way; False at rest, and also once the Deployment has given up. */
function progressing(rollout: Rollout): ConditionInput {
  const { wanted, updated, existing, available: count } = rollout;
  const failure = stalled(rollout);
  if (failure) return { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded', message: failure };
  if (!rollout.isCurrent)
    return { type: 'Progressing', status: 'True', reason: 'RolloutPending', message: 'The rollout has not begun yet' };
  if (updated === wanted && existing === wanted && count >= wanted)
    return {
      type: 'Progressing',
      status: 'False',
      reason: 'RolloutComplete',
      message: `${updated} replicas are up to date`,
    };
  const message = `${updated} of ${wanted} replicas are up to date, ${count} available`;
  return { type: 'Progressing', status: 'True', reason: 'RollingOut', message };
}

/** True when it takes a person: pods are refused, or do not come up in time. The engine says more when applying failed. */
function degraded(rollout: Rollout): ConditionInput {
  const refused = rollout.condition('ReplicaFailure');
  if (refused?.status === 'True')
    return { type: 'Degraded', status: 'True', reason: 'ReplicaFailure', message: shortened(refused.message) };
  const failure = stalled(rollout);
  if (failure) return { type: 'Degraded', status: 'True', reason: 'ProgressDeadlineExceeded', message: failure };
  return { type: 'Degraded', status: 'False', reason: 'AsExpected', message: '' };
}

/** Why the Deployment has given up on what is now written, with what to look at; undefined while it has not. */
function stalled({ condition, isCurrent, wanted, available: count }: Rollout): string | undefined {
  if (!isCurrent || condition('Progressing')?.reason !== 'ProgressDeadlineExceeded') return undefined;
  return (
    `${count} of ${wanted} replicas came up in time: see the pods' events and logs, and whether the image listens on spec.port ` +
    'and can run as spec.runAsUser with only spec.writablePaths writable'
  );
}

/** The Deployment passes on what admission said, whatever its length. */
const shortened = (message: string): string => (message.length <= 1024 ? message : `${message.slice(0, 1023)}…`);
