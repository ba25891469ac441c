/** What is installed: the same charts for `cdk8s synth` (main.ts) and for `pulumi up` (index.ts). */
import type { Construct } from 'constructs';
import { Definitions } from '../charts/definitions.ts';
import { Operator } from '../charts/operator.ts';
import { Samples } from '../charts/samples.ts';
import { kinds } from './index.ts';
import { definitionOf, rulesOf, userRolesOf } from './kind.ts';
import type { InstallOptions } from './install-options.ts';

export type InstallChart = Definitions | Operator | Samples;

/**
 * The charts, in the order in which they must be applied: each needs what stands before it to be there (definitions: Established).
 * Their names begin with their number, so that `kubectl apply -f dist/` takes the files in this order.
 */
export function installCharts(scope: Construct, options: InstallOptions): readonly InstallChart[] {
  const definitions = new Definitions(scope, '0-definitions', {
    namespace: options.namespace,
    customResourceDefinitions: kinds.map(definitionOf),
  });
  const operator = new Operator(scope, '1-operator', {
    name: 'reprise',
    namespace: options.namespace,
    image: options.image,
    replicas: options.replicas,
    watchNamespaces: options.watchNamespaces,
    logLevel: options.logLevel,
    rules: kinds.flatMap(rulesOf),
    userRoles: kinds.flatMap(userRolesOf),
  });
  if (!options.samples) return [definitions, operator];
  return [definitions, operator, new Samples(scope, '2-samples', { namespace: options.samplesNamespace })];
}
