"""A file of recipes as flow_grpo writes them, and prompts to train its recipes on."""

RECIPES = """
import imp, os
base = imp.load_source("base", os.path.join(os.path.dirname(__file__), "base.py"))

def plain():
    config = base.get_config()
    config.pretrained.model = "stabilityai/stable-diffusion-3.5-medium"
    config.dataset = os.path.join(os.getcwd(), "dataset/pickscore")
    config.reward_fn = {"jpeg_compressibility": 1}
    return config

def ocr_sd3():
    gpu_number = 32
    config = plain()
    config.sample.num_steps = 10
    config.resolution = 512
    config.sample.train_batch_size = 9
    config.sample.num_image_per_prompt = 24
    groups = gpu_number*config.sample.train_batch_size/config.sample.num_image_per_prompt
    config.sample.num_batches_per_epoch = int(48/groups)
    assert config.sample.num_batches_per_epoch % 2 == 0, "even"
    config.train.batch_size = config.sample.train_batch_size
    config.train.gradient_accumulation_steps = config.sample.num_batches_per_epoch//2
    config.train.timestep_fraction = 0.99
    config.train.beta = 0.04
    config.train.ema = True
    config.save_dir = f'logs/{config.pretrained.model}'
    config.reward_fn = {"ocr": 1.0, "geneval": 0.5}
    config.sample.brand_new_option = [1, 2]
    return config

def video():
    config = plain()
    config.pretrained.model = "hf_cache/Wan2.1-T2V-1.3B-Diffusers"
    config.height = 240
    config.width = 416
    config.frames = 33
    config.train.learning_rate = pick_a_rate()
    config.train.gradient_accumulation_steps = 4 // 2 if 4 > 1 else 1
    return config
"""
PROMPTS = [f"a sign that says {number}" for number in range(48)]
