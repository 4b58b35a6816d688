# Prints the numbers of scores.cpp, made by scikit-learn, and by Keras where it says so:
#   pip install scikit-learn keras torch
#   KERAS_BACKEND=torch python3 scores_golden.py
import keras
import numpy as np
from sklearn import metrics

keras.config.set_floatx("float64")
NUMBERS = range(24)
WEIGHTS = np.array([(i % 4 + 1) / 2 for i in NUMBERS])


def show(name, value):
    print(f"{name:24} {float(value)!r}")


logits = np.array([i * 37 % 101 / 32 - 1.5 for i in NUMBERS])
decisions = np.array([i * 37 % 101 + i * 29 % 50 > 70 for i in NUMBERS])
probabilities = 1 / (1 + np.exp(-logits))
for threshold in (0.5, 0.7):
    for name, score in [
        ("precision", metrics.precision_score),
        ("recall", metrics.recall_score),
        ("f_beta", lambda *a, **k: metrics.fbeta_score(*a, beta=2, **k)),
        ("f1", metrics.f1_score),
    ]:
        show(f"{name} at {threshold}",
             score(decisions, probabilities > threshold, sample_weight=WEIGHTS))
show("auc", metrics.roc_auc_score(decisions, logits, sample_weight=WEIGHTS))
pr_auc = keras.metrics.AUC(curve="PR")
pr_auc.update_state(decisions, probabilities, sample_weight=WEIGHTS)
show("pr_auc (Keras)", pr_auc.result())

outputs = np.array([[(i * 13 + c * 29 + i * c * 7) % 53 / 8 + c / 64 - (100 if c == 4 else 0)
                     for c in range(5)] for i in NUMBERS])
labels = np.array([(i * 5 + i // 3) % 4 for i in NUMBERS])
precision, recall, f1, _ = metrics.precision_recall_fscore_support(
    labels, outputs.argmax(1), labels=range(4), average="macro", sample_weight=WEIGHTS,
    zero_division=0)
show("macro_precision", precision)
show("macro_recall", recall)
show("macro_f1", f1)

predictions = np.array([[(i * 17 + k * 5) % 23 / 8 + 1000 * k for k in range(2)] for i in NUMBERS])
targets = predictions + np.array([[(i * 11 + k * 3) % 9 / 16 - 0.25 for k in range(2)]
                                  for i in NUMBERS])
show("rmse", metrics.root_mean_squared_error(targets.flatten(), predictions.flatten(),
                                             sample_weight=np.repeat(WEIGHTS, 2)))
show("r2", metrics.r2_score(targets, predictions, sample_weight=WEIGHTS))
