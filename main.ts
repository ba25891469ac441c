/**
 * `npm run synth`: what is installed, as YAML in dist/, for kubectl or GitOps. Each option of crds/install-options.ts is an environment
 * variable here: REPRISE_NAMESPACE, REPRISE_IMAGE, REPRISE_WATCH_NAMESPACES and so on.
 *
 * kubectl looks kinds up before it applies anything, so on a new cluster `kubectl apply -f dist/` installs all but the samples, says
 * that it does not know their kind, and takes them when it is called again.
 */
import { App } from 'cdk8s';
import { installCharts } from './crds/install.ts';
import { installOptions, parseInstallOptions, type InstallOptions } from './crds/install-options.ts';

const app = new App();
installCharts(app, options());
app.synth();

/** A mistake in the options is told without a stack. */
function options(): InstallOptions {
  const names = Object.keys(installOptions);
  try {
    return parseInstallOptions(
      Object.fromEntries(names.map((name) => [name, process.env[variableOf(name)]])),
      variableOf,
    );
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exit(1);
  }
}

function variableOf(option: string): string {
  return `REPRISE_${option.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}
