/** Whether an object that was applied does its work yet. Pure; the waiting is in objects.ts. */
import { isObject, listAt, numberAt, textAt } from './json.ts';
import type { Json, JsonObject } from './json.ts';

export type Readiness =
  | { readonly state: 'ready' }
  /** `why` is shown while it lasts. */
  | { readonly state: 'waiting'; readonly why: string }
  /** Waiting longer does not help. */
  | { readonly state: 'failed'; readonly why: string };

const ready: Readiness = { state: 'ready' };
const waiting = (why: string): Readiness => ({ state: 'waiting', why });
const failed = (why: string): Readiness => ({ state: 'failed', why });

const conditionOf = (object: JsonObject, type: string): JsonObject | undefined =>
  listAt(object, 'status', 'conditions')
    .filter(isObject)
    .find((condition) => condition.type === type);

const isTrue = (condition: Json | undefined): boolean => textAt(condition, 'status') === 'True';

const judges: Readonly<Record<string, (object: JsonObject) => Readiness>> = {
  'apiextensions.k8s.io/v1/CustomResourceDefinition': ofDefinition,
  'apps/v1/Deployment': ofDeployment,
};

/** Kinds that need no waiting are ready once they are stored. */
export function readinessOf(object: JsonObject): Readiness {
  const judge = judges[`${textAt(object, 'apiVersion')}/${textAt(object, 'kind')}`];
  const isSkipped = textAt(object, 'metadata', 'annotations', 'pulumi.com/skipAwait') === 'true';
  return judge === undefined || isSkipped ? ready : judge(object);
}

function ofDefinition(definition: JsonObject): Readiness {
  const names = conditionOf(definition, 'NamesAccepted');
  if (textAt(names, 'status') === 'False') return failed(`its names are refused: ${textAt(names, 'message')}`);
  return isTrue(conditionOf(definition, 'Established')) ? ready : waiting('waits to be established');
}

/** As `kubectl rollout status` decides it. */
function ofDeployment(deployment: JsonObject): Readiness {
  const generation = numberAt(deployment, 'metadata', 'generation') ?? 0;
  if ((numberAt(deployment, 'status', 'observedGeneration') ?? 0) < generation)
    return waiting('waits for its controller');
  const progressing = conditionOf(deployment, 'Progressing');
  if (textAt(progressing, 'reason') === 'ProgressDeadlineExceeded') return failed(textAt(progressing, 'message'));
  const wanted = numberAt(deployment, 'spec', 'replicas') ?? 1;
  const updated = numberAt(deployment, 'status', 'updatedReplicas') ?? 0;
  const available = numberAt(deployment, 'status', 'availableReplicas') ?? 0;
  const all = numberAt(deployment, 'status', 'replicas') ?? 0;
  if (updated < wanted) return waiting(`${updated} of ${wanted} replicas updated`);
  if (all > updated) return waiting(`${all - updated} old replicas still there`);
  return available < wanted ? waiting(`${available} of ${wanted} replicas available`) : ready;
}
