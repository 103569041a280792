# `make` lists the targets, those needed first on top. Each target does its own set-up.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= $(shell command -v python3.11 || command -v python3)
PYTEST_ARGS ?=
# Python's tests run in so many processes, each with a Spark of its own: they wait more than they compute.
WORKERS ?= 2
# One suite only: make conformance SUITE=StreamingAggregationSuite; RENEW=1 puts what it says on the page
SUITE ?=
RENEW ?=
# One test only: make jcstress TEST=ReleaseTwice
TEST ?= .*
# Cells with these words in their names only: make bench CELL=get,keyfold
CELL ?=
# Run also what has a result of the same code: FRESH=1
FRESH ?=
# How long each reader is fuzzed, and the run to repeat: make fuzz SECONDS=60, make fuzz SEED=...
SECONDS = 3600
SEED ?=
# How many versions the stores' soak commits, and how long the queries' soak runs
VERSIONS = 1000000
# Where the stores of that soak are; each commit waits for the disk, if there is one
FOLDER = /tmp
# Where Spark has its own providers
soak-runs: SPARK_STATE = org.apache.spark.sql.execution.streaming.state
soak-queries: SECONDS = 1200
# Where time goes, for the cells of CELL: PROFILE=1
PROFILE ?=

# Lives of queries, from seed 1 or SEED on: make crash RUNS=1 SEED=7 repeats one
RUNS ?= 100

VENV := .venv
BIN := $(VENV)/bin
# In the order given, the longest files first: one that comes last is waited for with an idle core.
PYTEST = $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder
# The supported lines of Spark, by the release of PySpark that stands for each; the last is the newest.
PYSPARK_4.0 := 4.0.5
PYSPARK_4.1 := 4.1.4
PYSPARK_4.2 := 4.2.1
PYSPARK_4.3 := 4.3.0
LINES := 4.0 4.1 4.2 4.3
# Where the demo's input comes from: files, kafka; where its results go: files, delta
SOURCE = files
SINK = files
# The newest lines with connectors to both, see integration-tests/kit/connectors.py
WITH_KAFKA := 4.2
WITH_DELTA := 4.1
# On which the demo and the smoke run, and the line whose checkpoints the smoke goes on with
SPARK = $(if $(filter delta,$(SINK)),$(WITH_DELTA),$(if $(filter kafka,$(SOURCE)),$(WITH_KAFKA),$(lastword $(LINES))))
BEGUN_ON = $(SPARK)
# Where another Java than the one on the path is, for the smoke: JDK=/usr/lib/jvm/java-21-openjdk-amd64
JDK =
JAR_OF = python/src/keyfold/jars/keyfold-spark_$(1)_2.13.jar
JARS := $(foreach it,$(LINES),$(call JAR_OF,$(it)))
JARS_READY := jvm/spark/target/jars-ready
# The newest line whose own tests Spark publishes: everything is tested on it.
TESTED := 4.2
JAR := $(call JAR_OF,$(TESTED))
JVM_SOURCES := VERSION build.sbt $(wildcard project/*.sbt project/*.scala project/*.properties) \
	$(shell find jvm/core/src/main jvm/spark/src/main -type f)
# Servers for tests: an S3 server, where there is Go; what Spark needs to reach it; an HDFS.
VERSITYGW := v1.8.0
S3_SERVER := .cache/versitygw/$(VERSITYGW)
SERVERS := jvm/servers/target/java.args
# Where the demo has its checkpoints: local, s3; and its state store: keyfold, rocksdb, hdfs
WHERE = local
PROVIDER = keyfold
# Where `make s3` listens, how long it holds each request back (the demo's server too), and where it has its objects
PORT = 9000
DELAY_MS = 0
s3: FOLDER = s3-out
# Where classes of Scala's tests are ready for Python's: a file manager that fails, a processor, the testkit's files.
TEST_CLASSES := jvm/spark/target/test-classes-ready
conformance conformance-reach conformance-baseline conformance-page: SPARK = $(TESTED)
PREPARE_CONFORMANCE = build/sbt -DsparkLine=$(SPARK) conformance/prepare
# Suites of applyInPandasWithState start Python; without PySpark in it they skip their tests.
CONFORMANCE = PYSPARK_PYTHON=$(if $(filter $(TESTED),$(SPARK)),$(CURDIR)/$(VENV),$$(build/pyspark $(PYSPARK_$(SPARK))))/bin/python \
	java @jvm/conformance/target$(if $(filter-out $(TESTED),$(SPARK)),/spark-$(SPARK))/java.args \
	io.keyfold.conformance.Main
BENCH := java @jvm/bench/target/java.args io.keyfold.bench.Main --cell "$(CELL)" \
	$(if $(FRESH),--fresh) $(if $(PROFILE),--profile)

# A state is a whole map off the heap: few at a time. Two settings of the JVM, 12 s each a test.
JCSTRESS := java @java.args org.openjdk.jcstress.Main -v -r report -c 2 -f 1 -iters 4 -time 3000 \
	-hs 256 -strideSize 16 -strideCount 8 -sc false -jvmArgs -XX:+UseSerialGC

.PHONY: help setup jars wheel servers s3 demo test test-long test-faults test-lines test-installed smoke-on-4.0 smoke-on-4.3 environments smoke contract smoke-operators upgrades release test-release test-jvm test-python test-reader crash incidents like-spark soak soak-stores soak-queries soak-runs fuzz jcstress conformance conformance-reach \
	conformance-baseline conformance-page bench bench-quick bench-engine bench-checkpoints bench-bigstate bench-yarn bench-page bench-python bench-subtasks bench-metrics bench-pictures nexmark nexmark-check model golden docs fmt lint clean

# What a user or a contributor needs first, in this order.
FIRST := wheel demo setup test test-jvm test-python fmt docs bench-quick clean

help:
	@awk -F ':.*## ' -v first="$(FIRST)" ' \
		function show(name) { printf "  %-21s %s\n", name, says[name]; delete says[name] } \
		/^[a-z0-9-]+:.*## / { says[$$1] = $$2; names[++count] = $$1 } \
		END { \
			tops = split(first, top, " "); \
			for (i = 1; i <= tops; i++) show(top[i]); \
			print "\nFor tests that take longer, benchmarks and releases:"; \
			for (i = 1; i <= count; i++) if (names[i] in says) show(names[i]) \
		}' $(MAKEFILE_LIST)

setup: $(VENV)/ready $(JAR) ## Python environment and jar; every other target does this itself

$(VENV)/ready: python/pyproject.toml VERSION build/compiled.pth
	$(PYTHON) -m venv $(VENV)
	@echo "Installing PySpark and the tools into $(VENV) (some 500 MB at the first time) ..."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e 'python[spark,demo,dev,docs]'
	cp build/compiled.pth $(VENV)/lib/python*/site-packages
	touch $@

$(JARS): $(call JAR_OF,%): $(JVM_SOURCES)
	build/sbt -DsparkLine=$* spark/bundle
	touch $@

# One sbt goes from line to line: the first compilation warms it up for the others. It leaves the jar
# of the tested line alone: what is made of that one would look old to the makes that run at once.
ON_LINE = 'eval sys.props.put("sparkLine", "$(1)")' reload
OTHER_LINES := $(filter-out $(TESTED),$(LINES))
jars: $(JARS_READY) $(JARS) ## a jar for each line of Spark, where the wheel takes them from
$(JARS_READY): $(JAR) $(JVM_SOURCES)
	build/sbt $(foreach it,$(OTHER_LINES),$(call ON_LINE,$(it)) spark/bundle)
	touch $@ $(filter-out $(JAR),$(JARS))

wheel: jars ## the wheel for all lines of Spark: dist/
	rm -f dist/*.whl
	$(PYTHON) -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist ./python

$(TEST_CLASSES): $(JAR) $(shell find jvm/core/src/test jvm/spark/src/test jvm/testkit/src -type f)
	build/sbt spark/Test/compile testkit/compile
	touch $@

# Each of Spark's JVMs starts with a third less work: a Python test starts some 3 of them.
CLASS_DATA := .cache/classes.jsa
$(CLASS_DATA): $(VENV)/ready | $(JAR)
	@echo "Archiving the classes of Spark (a minute at the first time) ..."
	cd integration-tests && $(CURDIR)/$(BIN)/python -m cluster.class_data >../$@.log 2>&1 || { tail ../$@.log; exit 1; }

# Tests that need it are skipped without Go, and say so.
$(S3_SERVER):
	@if command -v go >/dev/null; then \
		echo "Building the S3 server (4 minutes at the first time) ..."; \
		GOBIN=$(CURDIR)/$(@D) go install github.com/versity/versitygw/cmd/versitygw@$(VERSITYGW) && touch $@ || \
			echo "The S3 server cannot be built: tests on S3 are skipped." >&2; \
	fi

$(SERVERS): build.sbt $(shell find jvm/servers -name '*.scala')
	build/sbt servers/prepare
	touch $@

servers: $(S3_SERVER) $(SERVERS) ## what tests on S3, HDFS and YARN need

s3: $(VENV)/ready servers ## an S3 server for checkpoints: PORT=9000 FOLDER=s3-out DELAY_MS=25
	cd integration-tests && $(CURDIR)/$(BIN)/python -m kit.servers $(PORT) $(abspath $(FOLDER)) $(DELAY_MS)

demo: $(call JAR_OF,$(SPARK)) $(if $(filter s3,$(WHERE)),servers) $(if $(filter kafka,$(SOURCE)),$(SERVERS)) ## 336,776 real flights through Keyfold, killed half way, compared with batch; WHERE=s3 SOURCE=kafka SINK=delta
	PYTHONPATH=$(CURDIR)/integration-tests $$(build/pyspark $(PYSPARK_$(SPARK)))/bin/python -m demo \
		--where "$(WHERE)" --source "$(SOURCE)" --sink "$(SINK)" --delay-ms $(DELAY_MS) --provider $(PROVIDER)

# Of lanes that run at once, what failed is said again at the end: CI keeps only the end of what it printed.
FAILURES_LAST = 2>&1 | tee .cache/$@.log || { grep -E '^(FAILED|ERROR|E) |[*]{3} FAILED|^make.*Error' .cache/$@.log | tail -n 80; false; }

# At once: most of both waits for processes to start, or for one core. What both need is made before.
test: setup $(TEST_CLASSES) servers ## everything that must pass before a change lands
	$(MAKE) -j2 -O test-jvm test-python $(FAILURES_LAST)

# PySparks of the other lines: made before tests that run at once ask for one.
PYSPARKS := $(foreach it,$(OTHER_LINES),.cache/pyspark-$(PYSPARK_$(it))/ready)
$(PYSPARKS): .cache/pyspark-%/ready: build/pyspark
	build/pyspark $* >/dev/null
	touch $@

environments: $(VENV)/ready $(PYSPARKS) # what is downloaded and not compiled

# Three at once, the longest first: those with executors wait for processes to start, and none is left alone at the end.
test-long: setup jars $(TEST_CLASSES) servers $(CLASS_DATA) $(PYSPARKS) ## what takes longer: kills and faults on S3 and HDFS, other lines of Spark, the wheel
	$(MAKE) -j3 -O test-faults smoke-on-4.0 test-installed smoke-on-4.3 test-lines $(FAILURES_LAST)

test-faults: setup jars $(TEST_CLASSES) servers $(CLASS_DATA) # of test-long: kills, S3, HDFS
	$(PYTEST) -m long --ignore integration-tests/lines integration-tests $(PYTEST_ARGS)

# The others are in `upgrades`.
test-lines: jars # of test-long: the provider on the oldest line of Spark
	$(MAKE) contract SPARK=$(firstword $(LINES))

test-installed: setup jars $(TEST_CLASSES) # of test-long: the wheel, Delta and Iceberg
	$(BIN)/python -m pytest -m long integration-tests/lines $(PYTEST_ARGS)

smoke-on-4.0: OLDER = 4.0
smoke-on-4.3: OLDER = 4.1
smoke-on-4.0 smoke-on-4.3: smoke-on-%: jars # of test-long: operators on a line, with checkpoints of an older one
	$(MAKE) smoke-operators SPARK=$* BEGUN_ON=$(OLDER)

smoke: contract smoke-operators ## contract and operators on a line of Spark: SPARK=4.1, BEGUN_ON=4.0 (its checkpoints), JDK=/folder

contract: # the provider's, on lines of Spark: SPARK="4.0 4.1"
	$(if $(JDK),"$(JDK)/bin/java" -version)
	build/sbt $(foreach it,$(SPARK),$(call ON_LINE,$(it)) \
		$(if $(JDK),"set spark / Test / forkOptions ~= (_.withJavaHome(file(\"$(JDK)\")))") \
		"spark/testOnly io.keyfold.spark.KeyfoldStateStoreProviderSuite io.keyfold.spark.MaintenanceSuite")

smoke-operators: $(call JAR_OF,$(SPARK)) # each operator, and values of operator state, on a line of Spark
	$(if $(JDK),JAVA_HOME="$(JDK)") KEYFOLD_BEGUN_ON=$(BEGUN_ON) \
		$$(build/pyspark $(PYSPARK_$(SPARK)))/bin/python -m pytest integration-tests/operators \
		python/tests/spark/test_operator_values.py $(PYTEST_ARGS)

upgrades: jars $(TEST_CLASSES) ## checkpoints of each line and of Spark 3.5, each operator, on every later line; Delta, Iceberg, pipelines on each, Kubernetes, sync: 45 minutes
	KEYFOLD_EVERY_LINE=1 $(BIN)/python -m pytest -m long integration-tests/pipelines \
		integration-tests/lines/test_lake_tables.py integration-tests/lines/test_first_lines.py \
		integration-tests/lines/test_delta.py integration-tests/lines/test_spark_3.py \
		integration-tests/cluster/test_kubernetes.py integration-tests/cluster/test_sync.py
	$(MAKE) smoke SPARK=4.1 BEGUN_ON=4.0
	for begun in 4.0 4.1; do \
		KEYFOLD_BEGUN_ON=$$begun $(BIN)/python -m pytest integration-tests/operators || exit 1; done
	for begun in 4.0 4.1 4.2; do $(MAKE) smoke SPARK=4.3 BEGUN_ON=$$begun || exit 1; done

test-jvm: servers ## format check, Scala tests, and one of Spark's own suites against Keyfold
	build/test-jvm

# Each operator, ten minutes of it, is run on the oldest and the newest line in `test-long`.
test-python: setup $(TEST_CLASSES) servers $(CLASS_DATA) lint ## Python tests, and spark-submit on a local cluster
	$(PYTEST) integration-tests demo/tests python/tests --ignore integration-tests/operators/test_operators.py $(PYTEST_ARGS)

# Of the tests of the Python package, those that need no PySpark and no tool of $(VENV).
READER_TESTS := --ignore python/tests/report/test_in_browser.py \
	$(addprefix python/tests/,checkpoint cli format fsck inspection report rows schema state table unit/test_import.py)

test-reader: ## the reader's tests on another Python, without PySpark: PYTHON=python3.13
	"$$(build/reader $(PYTHON))/bin/python" -m pytest $(READER_TESTS) $(PYTEST_ARGS)

crash: setup servers $(TEST_CLASSES) ## lives of queries that are stopped, killed and changed: RUNS=1000 SEED=1
	cd integration-tests && $(CURDIR)/$(BIN)/python -m crash --runs $(RUNS) --seed $(or $(SEED),1)

incidents: setup ## damage to stopped queries, ended by following what the messages advise: RUNS=200 SEED=1
	cd integration-tests && $(CURDIR)/$(BIN)/python -m incidents --runs $(RUNS) --seed $(or $(SEED),1)

like-spark: setup $(TEST_CLASSES) ## random queries on Spark's own providers and on Keyfold, compared: RUNS=1000 SEED=1
	cd integration-tests && $(CURDIR)/$(BIN)/python -m likespark --runs $(RUNS) --seed $(or $(SEED),1)

soak: ## random sequences, 100,000 of the engine and 100,000 of stores, and some without memory checks, in 12 minutes
	build/test-core-unchecked
	TIMES=100000 build/sbt 'core/testOnly *ArenaMapSuite -- -z "random sequences"'
	TIMES=25000 build/sbt 'core/testOnly *StoreModelSuite'
	TIMES=200 build/sbt 'core/testOnly *ManyRowsSuite'

soak-stores: $(VENV)/ready ## a million versions over 200 stores with too little memory; VERSIONS=10000 FOLDER=/dev/shm
	mkdir -p soak-out
	build/sbt 'set core / Test / javaOptions --= Seq("-Dkeyfold.mem.checks=true", "-XX:TieredStopAtLevel=1")' \
		'set core / Test / javaOptions ++= Seq("-Xms256m", "-Xmx256m", "-XX:+AlwaysPreTouch")' \
		'set core / Test / javaOptions += "-Djava.io.tmpdir=$(FOLDER)"' \
		'core/Test/runMain io.keyfold.store.SoakMain $(VERSIONS) soak-out/stores.csv'
	$(BIN)/python integration-tests/soak/draw.py soak-out/stores.csv soak-out/stores.svg

soak-runs: $(VENV)/ready ## 1,000 runs of one batch each, and 300 with Spark's own providers, in 10 minutes
	mkdir -p soak-out
	build/sbt 'spark/Test/runMain io.keyfold.spark.ShortRunsMain 1000 $(CURDIR)/soak-out/runs.csv' \
		'spark/Test/runMain io.keyfold.spark.ShortRunsMain 300 $(CURDIR)/soak-out/runs-hdfs.csv $(SPARK_STATE).HDFSBackedStateStoreProvider' \
		'spark/Test/runMain io.keyfold.spark.ShortRunsMain 300 $(CURDIR)/soak-out/runs-rocksdb.csv $(SPARK_STATE).RocksDBStateStoreProvider' \
		'spark/Test/runMain io.keyfold.spark.ShortRunsMain 300 $(CURDIR)/soak-out/runs-changelog.csv $(SPARK_STATE).RocksDBStateStoreProvider spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled=true'
	$(BIN)/python integration-tests/soak/draw.py soak-out/runs.csv soak-out/runs.svg

soak-queries: setup $(TEST_CLASSES) ## a query of each kind for 20 minutes, and what they take; SECONDS=60
	mkdir -p soak-out
	cd integration-tests && PYSPARK_PYTHON=$(CURDIR)/$(BIN)/python \
		$(CURDIR)/$(BIN)/python -m soak $(SECONDS) $(CURDIR)/soak-out/queries.csv
	$(BIN)/python integration-tests/soak/draw.py soak-out/queries.csv soak-out/queries.svg

fuzz: $(VENV)/ready ## invalid files, against both readers, an hour each; SECONDS=60, SEED= repeats
	$(if $(SEED),,FOR_SECONDS=$$(($(SECONDS) / 4))) SEED=$(SEED) build/sbt 'core/testOnly *LyingFilesSuite'
	$(if $(SEED),,FOR_SECONDS=$$(($(SECONDS) / 3))) SEED=$(SEED) \
		$(BIN)/python -m pytest -s --timeout 0 python/tests/fuzz

jcstress: ## what threads may see of each other, every interleaving; 8 minutes, one: TEST=ReleaseTwice
	build/sbt jcstress/prepare
	cd jvm/jcstress/target && $(JCSTRESS) -t "$(TEST)" | tee report.txt | sed -n '/RUN RESULTS/,$$p'
	! grep -F -e '[SKIPPED]' -e '[ERROR]' jvm/jcstress/target/report.txt

conformance: $(VENV)/ready ## Spark's own suites against Keyfold: SPARK=4.1; one of them: SUITE=StreamingAggregationSuite
	$(PREPARE_CONFORMANCE)
	$(CONFORMANCE) --suite "$(SUITE)" $(if $(RENEW),--renew)
	$(if $(RENEW),$(MAKE) bench-pictures)

conformance-reach: $(VENV)/ready ## how many of those tests really reach the store
	$(PREPARE_CONFORMANCE)
	$(CONFORMANCE) --provider Refusing --suite "$(SUITE)"

conformance-baseline: $(VENV)/ready ## the same suites against Spark's RocksDB and HDFSBacked, for comparison
	$(PREPARE_CONFORMANCE)
	$(CONFORMANCE) --provider RocksDB --suite "$(SUITE)"
	$(CONFORMANCE) --provider HDFSBacked --suite "$(SUITE)"

conformance-page: ## docs/conformance.md again, from the results there are
	$(PREPARE_CONFORMANCE)
	$(CONFORMANCE) --page
	$(MAKE) bench-pictures

release: jars $(VENV)/ready ## wheel, sdist, Maven bundle, bill of materials and checksums: dist/
	rm -rf dist
	$(foreach it,$(LINES),build/sbt -DsparkLine=$(it) spark/publish &&) true
	$(BIN)/python build/release.py
	rm -r dist/maven
	cd dist && sha256sum --check SHA256SUMS

test-release: jars $(VENV)/ready ## two clean clones release the same, and Maven takes it
	KEYFOLD_RELEASE=1 $(BIN)/python -m pytest -m long integration-tests/lines/test_release.py

bench-quick: ## Keyfold beside Spark's own providers, in 8 minutes: bench-out/quick.md
	build/sbt bench/prepare
	$(BENCH) --quick

bench: ## all of it, in 95 minutes: docs/benchmarks*.md; some cells: CELL=get,keyfold
	build/sbt bench/prepare
	$(BENCH)
	$(if $(CELL),,$(MAKE) bench-python bench-subtasks bench-pictures)

bench-engine: ## the engine alone, without Spark and without files, in half a minute: KEYS=1000000
	build/sbt bench/prepare
	java @jvm/bench/target/java.args io.keyfold.bench.engine.EngineMain $(or $(KEYS),5000000) 200000 20

bench-python: setup ## the Python reader beside Spark's `statestore` source, in 10 minutes: docs/benchmarks-python.md
	$(BIN)/python -m bench

bench-subtasks: setup ## state of an operator's subtasks, in 5 minutes: docs/benchmarks-operator-state.md
	PYSPARK_PYTHON=$(CURDIR)/$(BIN)/python $(BIN)/python -m bench.subtasks

bench-metrics: setup ## batches with metrics and without, 20 pairs, in 15 minutes
	$(BIN)/python -m bench.metrics

bench-checkpoints: setup servers ## checkpoints on a local disk, S3 and HDFS beside Spark's own providers, in 45 minutes; CELL=s3
	build/sbt testkit/compile
	PYTHONPATH=integration-tests $(BIN)/python -m bench.places --cell "$(CELL)"
	$(MAKE) bench-pictures

bench-bigstate: setup ## counts of 10 to 50 million keys in a memory cgroup, beside RocksDB, in 3 hours, as root: docs/benchmarks-bigstate.md; KEYS=20000000
	build/sbt bench/compile
	$(BIN)/python -m bench.bigstate $(if $(KEYS),--keys $(KEYS))

nexmark: setup ## Nexmark's queries beside Spark's own providers, in two hours: docs/benchmarks-nexmark.md; PARTITIONS=200 TIMES=0.4
	build/sbt bench/compile
	$(BIN)/python -m bench.nexmark --partitions $(or $(PARTITIONS),4) --times $(or $(TIMES),1)
	$(MAKE) bench-pictures

nexmark-check: setup ## each answer of Nexmark's queries, in a stream and in batch, with all three providers; STORE=Keyfold
	$(BIN)/python -m bench.nexmark --check --store "$(STORE)"

model: $(VENV)/ready ## what the figures come to on a larger cluster, beside what was measured: docs/planning.md
	$(BIN)/python -m bench.model

bench-yarn: setup servers ## more state than an executor's container has room for, on YARN, beside RocksDB, in 15 minutes
	PYTHONPATH=integration-tests $(BIN)/python -m bench.yarn

bench-pictures: $(VENV)/ready ## the pictures of docs again, from the tables of its pages
	$(BIN)/python -m bench.pictures

bench-page: ## docs/benchmarks.md again, from the results there are
	build/sbt bench/prepare
	$(BENCH) --page
	$(MAKE) bench-pictures

golden: $(VENV)/ready ## write the golden files again; must leave git clean
	cd integration-tests && $(CURDIR)/$(BIN)/python -m kit.golden

docs: $(VENV)/ready ## pages of settings and errors from their registries, and the site: docs-out/index.html
	build/sbt "spark/Test/runMain io.keyfold.spark.ConfigurationPage" \
		"spark/Test/runMain io.keyfold.spark.MetricsPage"
	$(BIN)/python build/errors_page.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build

lint: $(VENV)/ready ## ruff and strict mypy
	$(BIN)/ruff format --check python integration-tests demo bench build examples
	$(BIN)/ruff check python integration-tests demo bench build examples
	$(BIN)/mypy --strict python/src demo bench build

fmt: $(VENV)/ready ## format Scala and Python
	build/sbt scalafmtAll conformance/scalafmtAll bench/scalafmtAll testkit/scalafmtAll servers/scalafmtAll scalafmtSbt
	$(BIN)/ruff format python integration-tests demo bench build examples

clean: ## remove what the build made, but the Python environment
	rm -rf jvm/*/target target project/target project/project .cache $(JARS) demo-out docs-out
